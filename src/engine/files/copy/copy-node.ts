import { closeSync, constants, fstatSync, lstatSync, openSync } from "node:fs";
import {
  type FileHandle,
  lchown,
  lstat,
  lutimes,
  mkdir,
  open,
  readlink,
  rename,
  symlink,
  unlink,
} from "node:fs/promises";
import { isSystemError, joinRaw, type RawPath, toBytes, toText } from "../../../base/index.ts";
import { linkOpenFile, makeFifo, openBelow } from "../../../linux/kernel/index.ts";
import { WaypointError } from "../../../shared/errors/index.ts";
import { openEntry } from "../../moment/index.ts";
import { fileFailure } from "../file-failure.ts";
import { copyAttributes, type Original, ownerOf, secondsOf } from "./copy-attributes.ts";
import { copyContent } from "./copy-content.ts";
import type { CopyJob } from "./copy-job.ts";
import type { SourceNode } from "./source-node.ts";

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;
const O_PATH = 0o10000000;

/** Where a copy goes: a name in an open directory, which nobody can move under our feet. */
export interface CopyTarget {
  directoryFd: number;
  name: RawPath;
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
    if (status.isSymbolicLink()) return await copyLink(original, target, job);
    if (status.isFIFO()) return await copyFifo(original, target, job);
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
  const { status, hostPath } = original;
  const key = `${status.dev}:${status.ino}`;
  const earlier = status.nlink > 1n ? job.copiedFiles.get(key) : undefined;
  if (earlier !== undefined && (await linkEarlier(earlier, target, job))) return;
  await using from = await openEntry({ hostPath });
  // What was a file a moment ago may be something that never ends by now.
  if (!(await from.stat()).isFile()) return job.leaveOut(original.rawPath, "it was replaced");
  await replace(target, job, async (temporary) => {
    const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    await using to = await open(textType(placeOf(temporary)), flags, 0o600);
    await copyContent(from, to, job);
    await copyAttributes(to.fd, original, job);
    if (status.nlink > 1n) job.copiedFiles.set(key, await copiedFile(to, target));
  });
  job.count("files");
}

async function copiedFile(file: FileHandle, { relativePath }: CopyTarget) {
  return { relativePath, inode: (await file.stat({ bigint: true })).ino };
}

/** Gives a file that was copied already one more name; not if somebody replaced it meanwhile. */
async function linkEarlier(
  { relativePath, inode }: { relativePath: RawPath; inode: bigint },
  target: CopyTarget,
  job: CopyJob,
): Promise<boolean> {
  try {
    const fd = openBelow(job.rootFd, toBytes(relativePath), O_PATH | O_NOFOLLOW);
    try {
      if (fstatSync(fd, { bigint: true }).ino !== inode) return false;
      const temporary = await replace(target, job, async ({ name }) =>
        linkOpenFile(fd, target.directoryFd, toBytes(name)),
      );
      // A rename onto another name of the same file does nothing at all.
      await removeName(temporary);
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

async function copyLink(original: Original, target: CopyTarget, job: CopyJob): Promise<void> {
  const { hostPath, status } = original;
  const leadsTo = await readlink(toBytes(hostPath), "buffer");
  const { uid, gid } = ownerOf(status, job);
  await replace(target, job, async (temporary) => {
    const place = placeOf(temporary);
    await symlink(textType(leadsTo), place);
    await lchown(place, uid, gid);
    await lutimes(place, secondsOf(status.atimeNs), secondsOf(status.mtimeNs));
  });
  job.count("others");
}

async function copyFifo(original: Original, target: CopyTarget, job: CopyJob): Promise<void> {
  await replace(target, job, async ({ name }) => {
    makeFifo(target.directoryFd, toBytes(name));
    const fd = openBelow(target.directoryFd, toBytes(name), O_PATH | O_NOFOLLOW);
    try {
      await copyAttributes(fd, original, job);
    } finally {
      closeSync(fd);
    }
  });
  job.count("others");
}

/** Makes something under another name and puts it in the place of what was there. */
async function replace(
  target: CopyTarget,
  job: CopyJob,
  make: (temporary: CopyTarget) => Promise<void>,
): Promise<CopyTarget> {
  const temporary = { ...target, name: job.temporaryName() };
  try {
    await make(temporary);
    await rename(placeOf(temporary), placeOf(target));
    return temporary;
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

function placeOf({ directoryFd, name }: CopyTarget): Buffer {
  return toBytes(`/proc/self/fd/${directoryFd}/${name}`);
}

/** Node takes the bytes of a path here as elsewhere; its types do not say so. */
function textType(bytes: Buffer): string {
  return bytes as unknown as string;
}
