import { closeSync, openSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { Socket } from "node:net";
import { SendStreamReader } from "../../formats/btrfs-stream/index.ts";
import { ioctlAside, makePipe } from "../kernel/index.ts";
import { subvolumeId } from "./btrfs-ioctl.ts";
import { inodePaths } from "./inode-paths.ts";
import { type ByteRange, ChangesReplay, type TouchedNode } from "./replay-changes.ts";

const BTRFS_IOC_SEND = 0x40489426;
const BTRFS_SEND_FLAG_NO_FILE_DATA = 1n;
const SEND_BYTES = 72;

/**
 * Where two subvolumes may differ. Paths are relative to the subvolume and exact: each byte is one
 * character ("latin1"). A path that is not named, and lies in no moved or new directory, is the same.
 */
export interface SubvolumeChanges {
  /** Paths of the first at which something was changed, moved or removed. */
  before: Set<string>;
  /** Paths of the second at which something was changed, or has come. */
  after: Set<string>;
  /** Paths of the second with the path of the same inode in the first, where that is another. */
  moved: Map<string, string>;
  /** Inode numbers of the second that were made since, even if the first has the same number. */
  created: Set<number>;
  /** What was written to inodes that both have, by inode number; an empty list: only its size. */
  written: Map<number, ByteRange[]>;
  /** Inode numbers whose extended attributes were set, but for the overlay's own. */
  attributes: Set<number>;
}

/** What differs, and where everything that the first has is in the second. */
export interface Difference extends SubvolumeChanges {
  /** Returns the paths in the second of what is at a path of the first; none when it is gone. */
  pathsAfter: (pathBefore: string) => string[];
}

/**
 * Has the kernel find where a read-only subvolume differs from one that it descends from, in time
 * proportional to that; from `null`, which has nothing, everything in it is new.
 *
 * The kernel compares them block by block and skips what they share; it writes down the difference
 * as a send stream without data, which is replayed on names. It takes inodes of the same number and
 * generation for one. Of subvolumes that do not descend from each other that may be wrong, and
 * then it fails or tells nonsense.
 *
 * @throws what the kernel says, for instance of a path of over 4 KiB.
 */
export async function sendDifference(
  fromPath: string | null,
  toPath: string,
  signal: AbortSignal,
): Promise<Difference> {
  const replay = new ChangesReplay();
  await send(fromPath, toPath, signal, replay);
  const changes = await collect(replay.finish(), toPath);
  return { ...changes, pathsAfter: (pathBefore) => replay.pathsAfter(pathBefore) };
}

async function send(
  fromPath: string | null,
  toPath: string,
  signal: AbortSignal,
  replay: ChangesReplay,
): Promise<void> {
  const subvolumeFd = openSync(toPath, "r");
  const { readFd, writeFd } = makePipe();
  const stream = new SendStreamReader();
  const argument = sendArguments(writeFd, fromPath === null ? 0n : subvolumeId(fromPath));
  // Read by polling: a blocking read would take one of the few threads that calls aside run on.
  const pipe = new Socket({ fd: readFd, readable: true, writable: false });
  const stop = () => pipe.destroy();
  signal.addEventListener("abort", stop, { once: true });
  // Without a reader the kernel stops writing, so the call ends too.
  const sent = ioctlAside(subvolumeFd, BTRFS_IOC_SEND, argument).finally(() => {
    closeSync(writeFd);
    closeSync(subvolumeFd);
  });
  try {
    const read = readAll(pipe, (chunk) => {
      for (const command of stream.push(chunk)) replay.apply(command);
    });
    const [sending, reading] = await Promise.allSettled([sent, read]);
    if (reading.status === "rejected") throw reading.reason;
    if (sending.status === "rejected") throw sending.reason;
    signal.throwIfAborted();
    stream.end();
  } finally {
    signal.removeEventListener("abort", stop);
    pipe.destroy();
  }
}

async function readAll(pipe: Socket, take: (chunk: Buffer) => void): Promise<void> {
  for await (const chunk of pipe as AsyncIterable<Buffer>) take(chunk);
}

function sendArguments(writeFd: number, parentRoot: bigint): Uint8Array {
  const argument = new Uint8Array(SEND_BYTES);
  const view = new DataView(argument.buffer);
  view.setBigInt64(0, BigInt(writeFd), true);
  view.setBigUint64(24, parentRoot, true);
  view.setBigUint64(32, BTRFS_SEND_FLAG_NO_FILE_DATA, true);
  return argument;
}

async function collect(nodes: readonly TouchedNode[], toPath: string): Promise<SubvolumeChanges> {
  const changes: SubvolumeChanges = {
    ...{ before: new Set(), after: new Set(), moved: new Map(), created: new Set() },
    ...{ written: new Map(), attributes: new Set() },
  };
  const { before, after, moved, created } = changes;
  for (const node of nodes) {
    const { origin, paths, inode } = node;
    if (inode !== null) created.add(inode);
    if (origin !== null) before.add(origin);
    for (const path of paths) {
      after.add(path);
      if (origin !== null && path !== origin) moved.set(path, origin);
    }
    if (origin !== null) await collectContent(node, toPath, changes);
  }
  return changes;
}

/** Notes what was done to an inode that both have, at each of its names. */
async function collectContent(
  { paths, written, isAltered, hasNewAttributes }: TouchedNode,
  toPath: string,
  changes: SubvolumeChanges,
): Promise<void> {
  const [path] = paths;
  if (path === undefined || (written.length === 0 && !isAltered)) return;
  const status = await lstat(
    Buffer.concat([Buffer.from(`${toPath}/`), Buffer.from(path, "latin1")]),
  );
  // The stream may use two names of an inode, which are two nodes here.
  changes.written.set(status.ino, [...(changes.written.get(status.ino) ?? []), ...written]);
  if (hasNewAttributes) changes.attributes.add(status.ino);
  if (status.nlink === 1 || status.isDirectory()) return;
  // The stream uses one name of an inode; those that it does not mention are where they were.
  for (const name of inodePaths(toPath, status.ino)) {
    changes.after.add(name);
    if (!changes.moved.has(name)) changes.before.add(name);
  }
}
