import type { ProcessFacts } from "../../../base/index.ts";
import type { Moment } from "../moment.ts";
import type { StoryPorts } from "../story-ports.ts";

/** A socket that a process waits at for others. */
export interface PictureListener {
  protocol: "tcp" | "udp" | "unix";
  address: string;
  port: number | null;
  pid: number | null;
}

interface End {
  address: string;
  port: number;
}

/** A connection, to another process or to the outside. */
export interface PictureConnection {
  protocol: "tcp" | "udp";
  local: End;
  remote: End;
  pid: number | null;
}

/** What ran at one moment, and its sockets. Parents come before children. */
export interface ProcessPicture {
  tasks: ProcessFacts[];
  listeners: PictureListener[];
  connections: PictureConnection[];
}

/**
 * Returns what ran at a moment, from its images or, of a live session, from `/proc`; `null` for a
 * session that has just been started.
 *
 * @throws Error  there are no processes, or they cannot be read; the message says why.
 */
export function readPicture(moment: Moment, ports: StoryPorts): Promise<ProcessPicture | null> {
  return moment.once("process-picture", async () => {
    if (moment.kind === "fresh") return null;
    if (moment.kind === "live") {
      return await ports.sandbox.readLiveTree(requireLivePid(moment, ports));
    }
    return await fromImages(moment, (imagesDir) => ports.criu.readImageTree(imagesDir));
  });
}

/** Returns the memory of a process of a moment. @throws Error */
export async function readMemory(moment: Moment, pid: number, ports: StoryPorts) {
  if (moment.kind === "live") {
    return await ports.sandbox.readLiveMemory(requireLivePid(moment, ports), pid);
  }
  return await fromImages(moment, (imagesDir) => ports.criu.readImageMemory(imagesDir, pid));
}

function requireLivePid({ session, name }: Moment, ports: StoryPorts): number {
  const live = session === null ? undefined : ports.live.get(session.id);
  if (live === undefined) throw new Error(`session ${name} is not running`);
  return live.pid;
}

/** Images move from memory into the store: what was begun in the one place is tried in the other. */
async function fromImages<T>(moment: Moment, read: (imagesDir: string) => Promise<T>): Promise<T> {
  const imagesDir = moment.imagesDir();
  if (imagesDir === null) throw new Error(`checkpoint ${moment.name} holds files alone`);
  try {
    return await read(imagesDir);
  } catch (error) {
    const movedTo = moment.imagesDir();
    if (movedTo === null || movedTo === imagesDir) throw error;
    return await read(movedTo);
  }
}
