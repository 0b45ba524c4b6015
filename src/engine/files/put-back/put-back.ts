import { closeSync, constants, openSync } from "node:fs";
import { lstat, mkdir, readdir, rmdir, unlink } from "node:fs/promises";
import { isSystemError, type RawPath, toBytes } from "../../../base/index.ts";
import { openBelow } from "../../../linux/kernel/index.ts";
import type { TreeEntry } from "../../moment/index.ts";
import { copyAttributes } from "../copy/copy-attributes.ts";
import { CopyJob } from "../copy/copy-job.ts";
import { copyNode } from "../copy/copy-node.ts";
import { Root } from "../copy/root.ts";
import { fileFailure } from "../file-failure.ts";
import { shownPath } from "../place.ts";
import { type FileAction, parentOf } from "./file-actions.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
const O_PATH = 0o10000000;

/** What putting files back has done. */
export interface PutResult {
  put: number;
  removed: number;
  leftOut: { path: string; reason: string }[];
  leftOutCount: number;
}

/** Where a name is looked up and made. */
interface NameAt {
  directoryFd: number;
  name: RawPath;
}

/**
 * Carries out actions in the root of a process that runs on.
 *
 * What comes is put in place before what goes is removed. Each file is replaced as a whole or not at
 * all, by a name in an open directory that no link leads to. What a session has moved meanwhile is
 * left out and named.
 *
 * **On failure** each file is the old one or the new one.
 *
 * @param id  names the file that is being made; {@link removeUnfinished} finds it after a crash.
 * @throws FILE_FAILED | STORE_FULL | CANCELLED
 */
export async function putBack(
  actions: readonly FileAction[],
  { pid, id, signal }: { pid: number; id: string; signal: AbortSignal },
): Promise<PutResult> {
  using root = Root.of(pid);
  const rules = { owner: null, dropsPrivileges: false };
  const job = new CopyJob(root.fd, rules, { id, signal });
  const wanted = actions.filter(({ want }) => want !== null);
  for (const { rawPath, want } of wanted) {
    await at(root, rawPath, job, (place) => put(rawPath, want as TreeEntry, place, job));
  }
  let removed = 0;
  for (const { rawPath, want } of actions.toReversed()) {
    if (want !== null) continue;
    await at(root, rawPath, job, async (place) => {
      if (await remove(rawPath, place, job)) removed += 1;
    });
  }
  // What was put into directories has changed their times.
  for (const { rawPath, want } of wanted.toReversed()) {
    if (want?.type !== "directory") continue;
    await at(root, rawPath, job, (place) => settleDirectory(rawPath, want, place, job));
  }
  const { files, directories, others, leftOut, leftOutCount } = job.result;
  return { put: files + directories + others, removed, leftOut, leftOutCount };
}

/** Removes what a daemon that died was making in these directories under `id`. */
export async function removeUnfinished(
  paths: readonly RawPath[],
  { pid, id }: { pid: number; id: string },
): Promise<void> {
  using root = Root.of(pid);
  const beginning = CopyJob.temporaryBeginning(id);
  for (const directory of new Set(paths.map(parentOf))) {
    using opened = root.directory(directory);
    if (opened === null) continue;
    const names = await readdir(`/proc/self/fd/${opened.fd}/.`, "latin1");
    for (const name of names.filter((each) => each.startsWith(beginning))) {
      await unlink(placeOf({ directoryFd: opened.fd, name }));
    }
  }
}

/** Does something at a path whose directory is still where it was. */
async function at(
  root: Root,
  rawPath: RawPath,
  job: CopyJob,
  step: (place: NameAt) => Promise<void>,
): Promise<void> {
  job.throwIfGone();
  const directory = parentOf(rawPath).slice(1);
  let directoryFd: number;
  try {
    directoryFd = openBelow(
      root.fd,
      toBytes(directory === "" ? "." : directory),
      O_PATH | O_DIRECTORY,
    );
  } catch (error) {
    if (!isSystemError(error, "ENOENT", "ENOTDIR", "ELOOP"))
      throw fileFailure(error, `find ${shownPath(rawPath)}`);
    return job.leaveOut(rawPath, "its directory was removed or moved meanwhile");
  }
  try {
    await step({ directoryFd, name: rawPath.slice(rawPath.lastIndexOf("/") + 1) });
  } catch (error) {
    throw fileFailure(error, `change ${shownPath(rawPath)}`);
  } finally {
    closeSync(directoryFd);
  }
}

async function put(rawPath: RawPath, want: TreeEntry, place: NameAt, job: CopyJob): Promise<void> {
  if (want.type !== "directory") {
    const node = { hostPath: want.hostPath, open: () => Promise.reject(new Error("no directory")) };
    return await copyNode(node, rawPath, { ...place, relativePath: rawPath.slice(1) }, job);
  }
  try {
    await mkdir(placeOf(place), 0o700);
  } catch (error) {
    if (!isSystemError(error, "EEXIST")) throw error;
  }
  job.count("directories");
}

async function settleDirectory(
  rawPath: RawPath,
  want: TreeEntry,
  place: NameAt,
  job: CopyJob,
): Promise<void> {
  let fd: number;
  try {
    fd = openSync(placeOf(place), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    if (!isSystemError(error, "ENOENT", "ENOTDIR", "ELOOP")) throw error;
    return job.leaveOut(rawPath, "something else was put in its place meanwhile");
  }
  try {
    const status = await lstat(toBytes(want.hostPath), { bigint: true });
    await copyAttributes(fd, { rawPath, hostPath: want.hostPath, status }, job);
  } finally {
    closeSync(fd);
  }
}

/** Returns whether it was there and is gone. */
async function remove(rawPath: RawPath, place: NameAt, job: CopyJob): Promise<boolean> {
  try {
    const isDirectory = (await lstat(placeOf(place))).isDirectory();
    await (isDirectory ? rmdir(placeOf(place)) : unlink(placeOf(place)));
    return true;
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return false;
    if (!isSystemError(error, "ENOTEMPTY", "EBUSY")) throw error;
    const isBusy = isSystemError(error, "EBUSY");
    job.leaveOut(rawPath, isBusy ? "something is mounted there" : "there is something else in it");
    return false;
  }
}

function placeOf({ directoryFd, name }: NameAt): Buffer {
  return toBytes(`/proc/self/fd/${directoryFd}/${name}`);
}
