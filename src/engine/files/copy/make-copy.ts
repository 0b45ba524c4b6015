import { closeSync, constants } from "node:fs";
import { type FileHandle, lchown, lutimes, mkdir, open, readlink, symlink } from "node:fs/promises";
import { fdPath, type RawPath, toBytes } from "../../../base/index.ts";
import { openEntry } from "../../moment/index.ts";
import { copyAttributes, type Original, ownerOf, secondsOf } from "./copy-attributes.ts";
import { copyContent } from "./copy-content.ts";
import type { CopyJob } from "./copy-job.ts";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
const O_PATH = 0o10000000;

/** A name in an open directory, which nobody can move under our feet. */
export interface NameAt {
  directoryFd: number;
  name: RawPath;
}

/**
 * Makes one thing under a name that is free, with all that belongs to it: owner, mode, extended
 * attributes, times, holes. Of a directory that is it alone, not what is in it.
 *
 * **Requires** `original` is a file, link, FIFO or directory. **On failure** something may have the name.
 *
 * @param text  content of a file in place of the original's, which is new then.
 * @returns whether it was made; not if the original is something else by now.
 */
export async function makeCopy(
  original: Original,
  target: NameAt,
  job: CopyJob,
  text: Buffer | null = null,
): Promise<boolean> {
  const { status } = original;
  if (status.isFile()) return await makeFile(original, target, job, text);
  if (status.isSymbolicLink()) await makeLink(original, target, job);
  else {
    if (status.isDirectory()) await mkdir(placeOf(target), 0o700);
    else job.calls.makeFifo(target.directoryFd, toBytes(target.name));
    const fd = job.calls.openBelow(target.directoryFd, toBytes(target.name), O_PATH | O_NOFOLLOW);
    try {
      await copyAttributes(fd, original, job);
    } finally {
      closeSync(fd);
    }
  }
  return true;
}

/** Returns the path by which a name in an open directory is used, whatever becomes of the way to it. */
export function placeOf({ directoryFd, name }: NameAt): Buffer {
  return toBytes(`${fdPath(directoryFd)}/${name}`);
}

async function makeFile(
  original: Original,
  target: NameAt,
  job: CopyJob,
  text: Buffer | null,
): Promise<boolean> {
  await using from = await openEntry(original);
  // What was a file a moment ago may be something that never ends by now.
  if (!(await from.stat()).isFile()) return false;
  await using to = await openNew(target);
  if (text === null) await copyContent(from, to, job);
  else await to.writeFile(text);
  await copyAttributes(to.fd, original, job);
  // Nobody has seen this content yet: it is not as old as what it was made of.
  if (text !== null) await to.utimes(new Date(), new Date());
  return true;
}

async function openNew(target: NameAt): Promise<FileHandle> {
  return await open(textType(placeOf(target)), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
}

async function makeLink(original: Original, target: NameAt, job: CopyJob): Promise<void> {
  const { hostPath, status } = original;
  const { uid, gid } = ownerOf(status, job);
  const place = placeOf(target);
  await symlink(textType(await readlink(toBytes(hostPath), "buffer")), place);
  await lchown(place, uid, gid);
  await lutimes(place, secondsOf(status.atimeNs), secondsOf(status.mtimeNs));
}

/** Node takes the bytes of a path here as elsewhere; its types do not say so. */
function textType(bytes: Buffer): string {
  return bytes as unknown as string;
}
