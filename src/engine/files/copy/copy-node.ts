import { closeSync, constants, fstatSync, lstatSync, openSync } from "node:fs";
import { lstat, mkdir, rename, unlink } from "node:fs/promises";
import { isSystemError, joinRaw, type RawPath, toBytes, toText } from "../../../base/index.ts";
import { WaypointError } from "../../../shared/errors/index.ts";
import { fileFailure } from "../file-failure.ts";
import { copyAttributes, type Original } from "./copy-attributes.ts";
import type { CopyJob } from "./copy-job.ts";
import { makeCopy, type NameAt, placeOf } from "./make-copy.ts";
import type { SourceNode } from "./source-node.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
const O_PATH = 0o10000000;

/** Where a copy goes. */
export interface CopyTarget extends NameAt {
  /** Its path below the directory that all is copied to. */
  relativePath: RawPath;
}

/**
 * Copies something and all that is in it.
 *
 * Every step names one entry of an open directory and follows no link, so that nothing that a
 * session does meanwhile leads out of the target. Each file is made under another name and takes
 * its own when it is whole: **on failure** it is the old one or the new one.
 *
 * @throws FILE_REFUSED  a directory is in the place of a file, or the other way round.
 * @throws FILE_FAILED | STORE_FULL | CANCELLED
 */
export async function copyNode(
  node: SourceNode,
  rawPath: RawPath,
  target: CopyTarget,
  job: CopyJob,
): Promise<void> {
  job.throwIfGone();
  try {
    const status = await lstat(toBytes(node.hostPath), { bigint: true });
    const original = { rawPath, hostPath: node.hostPath, status };
    if (status.isDirectory()) return await copyDirectory(node, original, target, job);
    refuseDirectory(target, rawPath);
    if (status.isFile()) return await copyFile(original, target, job);
    if (status.isSymbolicLink() || status.isFIFO()) {
      return await copyOther(original, target, job);
    }
    job.leaveOut(rawPath, `a ${status.isSocket() ? "socket" : "device"} is not copied`);
  } catch (error) {
    throw fileFailure(error, `copy ${toText(rawPath)}`);
  }
}

/** Copies what is in a directory into one that is there already. */
export async function copyChildren(
  node: SourceNode,
  rawPath: RawPath,
  target: { directoryFd: number; relativePath: RawPath },
  job: CopyJob,
): Promise<void> {
  using directory = await node.open();
  for (const name of directory.names) {
    const childPath = joinRaw(rawPath, name);
    const child = directory.child(name);
    const relativePath = target.relativePath === "" ? name : `${target.relativePath}/${name}`;
    if (child === null) job.leaveOut(childPath, "a bind, which no moment holds");
    else await copyNode(child, childPath, { ...target, name, relativePath }, job);
  }
}

async function copyDirectory(
  node: SourceNode,
  original: Original,
  target: CopyTarget,
  job: CopyJob,
): Promise<void> {
  const isNew = await makeDirectory(target);
  const directoryFd = openDirectory(target, original.rawPath);
  try {
    const { relativePath } = target;
    await copyChildren(node, original.rawPath, { directoryFd, relativePath }, job);
    // One that was there keeps its owner and mode: it may be /etc.
    if (isNew) await copyAttributes(directoryFd, original, job);
    job.count("directories");
  } finally {
    closeSync(directoryFd);
  }
}

async function makeDirectory(target: CopyTarget): Promise<boolean> {
  try {
    await mkdir(placeOf(target), 0o700);
    return true;
  } catch (error) {
    if (isSystemError(error, "EEXIST")) return false;
    throw error;
  }
}

function openDirectory(target: CopyTarget, rawPath: RawPath): number {
  try {
    return openSync(placeOf(target), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    if (!isSystemError(error, "ENOTDIR", "ELOOP")) throw error;
    throw inTheWay(rawPath, "something that is no directory");
  }
}

async function copyFile(original: Original, target: CopyTarget, job: CopyJob): Promise<void> {
  const { status, rawPath } = original;
  const key = `${status.dev}:${status.ino}`;
  const earlier = status.nlink > 1n ? job.copiedFiles.get(key) : undefined;
  if (earlier !== undefined && (await linkEarlier(earlier, target, job))) return;
  const made = await replace(target, job, async (temporary) => {
    if (!(await makeCopy(original, temporary, job))) return null;
    return lstatSync(placeOf(temporary), { bigint: true });
  });
  if (made === null) return job.leaveOut(rawPath, "it was replaced");
  const { relativePath } = target;
  if (status.nlink > 1n) job.copiedFiles.set(key, { relativePath, inode: made.ino });
  job.count("files");
}

/** Copies a link or a FIFO. */
async function copyOther(original: Original, target: CopyTarget, job: CopyJob): Promise<void> {
  await replace(target, job, async (temporary) => await makeCopy(original, temporary, job));
  job.count("others");
}

/** Gives a file that was copied already one more name; not if somebody replaced it meanwhile. */
async function linkEarlier(
  { relativePath, inode }: { relativePath: RawPath; inode: bigint },
  target: CopyTarget,
  job: CopyJob,
): Promise<boolean> {
  try {
    const fd = job.calls.openBelow(job.rootFd, toBytes(relativePath), O_PATH | O_NOFOLLOW);
    try {
      if (fstatSync(fd, { bigint: true }).ino !== inode) return false;
      const temporary = await replace(target, job, async (made) => {
        job.calls.linkOpenFile(fd, target.directoryFd, toBytes(made.name));
        return made;
      });
      // A rename onto another name of the same file does nothing at all.
      if (temporary !== null) await removeName(temporary);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (isSystemError(error, "ENOENT", "ELOOP", "ENOTDIR", "EMLINK", "EXDEV")) return false;
    throw error;
  }
  job.count("others");
  return true;
}

/** Makes something under another name and puts it in the place of what was there; `null` for nothing. */
async function replace<T>(
  target: CopyTarget,
  job: CopyJob,
  make: (temporary: CopyTarget) => Promise<T | null>,
): Promise<T | null> {
  const temporary = { ...target, name: job.temporaryName() };
  try {
    const made = await make(temporary);
    if (made !== null) await rename(placeOf(temporary), placeOf(target));
    return made;
  } catch (error) {
    await removeName(temporary);
    throw error;
  }
}

async function removeName(target: CopyTarget): Promise<void> {
  await unlink(placeOf(target)).catch((error: unknown) => {
    if (!isSystemError(error, "ENOENT")) throw error;
  });
}

function refuseDirectory(target: CopyTarget, rawPath: RawPath): void {
  const there = lstatSync(placeOf(target), { throwIfNoEntry: false });
  if (there?.isDirectory()) throw inTheWay(rawPath, "a directory");
}

function inTheWay(rawPath: RawPath, what: string): WaypointError {
  return new WaypointError(
    "FILE_REFUSED",
    `${toText(rawPath)} cannot be copied: ${what} is in its place.`,
    { hint: "Copy it to another place, or remove what is there first." },
  );
}
