import type { ProcessFacts } from "../../../base/index.ts";
import type { Moment, ReadingEngine } from "../../moment/index.ts";

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
export function readPicture(moment: Moment, engine: ReadingEngine): Promise<ProcessPicture | null> {
  return moment.once("process-picture", async () => {
    if (moment.kind === "fresh") return null;
    if (moment.kind === "live") {
      return await engine.sandbox.readProcessPicture(requireLivePid(moment, engine));
    }
    return await fromImages(moment, (imagesDir) => engine.criu.readImageTree(imagesDir));
  });
}

/** Returns the memory of a process of a moment. @throws Error */
export async function readMemory(moment: Moment, pid: number, engine: ReadingEngine) {
  if (moment.kind === "live") {
    return await engine.sandbox.readLiveMemory(requireLivePid(moment, engine), pid);
  }
  return await fromImages(moment, (imagesDir) => engine.criu.readImageMemory(imagesDir, pid));
}

function requireLivePid({ session, name }: Moment, engine: ReadingEngine): number {
  const live = session === null ? undefined : engine.live.get(session.id);
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
