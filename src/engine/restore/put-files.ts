import { lstatSync, utimesSync } from "node:fs";
import { fdPath, type RawPath, toBytes, toText } from "../../base/index.ts";
import {
  type Change,
  carryOut,
  explainFailure,
  identityOf,
  PutBack,
  parentOf,
  removeStaleBeside,
  Target,
  type Version,
  versionOfEntry,
} from "../changes/index.ts";
import { CopyJob, Root, secondsOf } from "../files/index.ts";
import type { FileCalls } from "../ports/index.ts";
import type { FileAction } from "./file-actions.ts";

const TAKEN = ["file", "directory", "symlink", "fifo"];

/** What putting files back has done. */
export interface PutResult {
  put: number;
  removed: number;
  leftOut: { path: string; reason: string }[];
  leftOutCount: number;
}

/** Whose root it is, and what names that which is made there; {@link removeUnfinished} finds it. */
export interface PutJob {
  pid: number;
  id: string;
}

/**
 * Carries out actions in the root of a process that runs on.
 *
 * What comes is put in place before what goes is removed. What a session has moved meanwhile is left
 * out and named; what it writes meanwhile goes, as it would have gone a moment earlier.
 *
 * **On failure** all is put back.
 *
 * @throws FILE_FAILED | STORE_FULL
 */
export async function putFiles(
  actions: readonly FileAction[],
  { pid, id }: PutJob,
  calls: FileCalls,
): Promise<PutResult> {
  using root = Root.of(pid, calls);
  const target = new Target(root.fd, calls);
  // Whoever asked may leave: what was begun is brought to its end.
  const signal = new AbortController().signal;
  const job = new CopyJob(root.fd, { owner: null, dropsPrivileges: false }, { id, signal, calls });
  const options = { target, job, id, keeper: null, meanwhile: "replace" } as const;
  let done: Change[];
  try {
    done = await carryOut(await changesOf(actions, target, job), options);
    giveTimes(actions, target);
  } catch (error) {
    throw failureOf(error);
  }
  const isDeleted = ({ kind }: Change) => kind === "delete";
  const removed = done.filter((change) => isDeleted(change) && change.identity !== null).length;
  const { leftOut, leftOutCount } = job.result;
  return {
    put: done.filter((change) => !isDeleted(change)).length,
    removed,
    leftOut,
    leftOutCount,
  };
}

/** Removes what a daemon that died has left beside these paths. */
export async function removeUnfinished(
  paths: readonly RawPath[],
  { pid, id }: PutJob,
  calls: FileCalls,
): Promise<void> {
  using root = Root.of(pid, calls);
  const directories = new Set<RawPath>();
  for (const path of paths) {
    for (let at = parentOf(path.slice(1)); !directories.has(at); at = parentOf(at)) {
      directories.add(at);
    }
  }
  await removeStaleBeside(directories, new Target(root.fd, calls), id);
}

/** Returns actions as changes of what is there now, in an order in which they can be carried out. */
async function changesOf(
  actions: readonly FileAction[],
  target: Target,
  job: CopyJob,
): Promise<Change[]> {
  const made: Change[] = [];
  const deleted: Change[] = [];
  const kept: Change[] = [];
  for (const action of actions) {
    const { want, rawPath } = action;
    if (want !== null && !TAKEN.includes(want.type)) {
      job.leaveOut(rawPath, `a ${want.type === "socket" ? "socket" : "device"} is not copied`);
      continue;
    }
    const change = await changeOf(action, target);
    (change.kind === "delete" ? deleted : change.kind === "attributes" ? kept : made).push(change);
  }
  const inOrder = [...made, ...deleted.reverse(), ...kept.reverse()];
  return inOrder.map((change, number) => ({ ...change, number }));
}

async function changeOf({ rawPath, want }: FileAction, target: Target): Promise<Change> {
  const path = rawPath.slice(1);
  return await target.look(path, async ({ version, status }) => {
    const after = want === null ? null : versionOfEntry(want);
    const isThere = version?.type === "directory";
    const wantsDirectory = want?.type === "directory";
    const kind =
      want === null ? "delete" : !wantsDirectory ? "write" : isThere ? "attributes" : "mkdir";
    // What is of another kind by now is found when it is to be replaced, and stays.
    const isSeen = version !== null && status !== null && kind !== "mkdir";
    const isReplaced = isSeen && !(kind === "write" && isThere);
    const before: Version | null = isReplaced ? { ...version, content: { digest: "" } } : null;
    const identity = isReplaced ? identityOf(status, version) : null;
    const linkKey = want?.type === "file" ? linkKeyOf(want.hostPath) : null;
    return { ...{ number: 0, path, kind, identity, before, after }, merged: null, linkKey };
  });
}

/** Names of one file become names of one file again. */
function linkKeyOf(hostPath: RawPath): string | null {
  const { dev, ino, nlink } = lstatSync(toBytes(hostPath), { bigint: true });
  return nlink > 1n ? `${dev}:${ino}` : null;
}

/** What was put into directories has changed their times. */
function giveTimes(actions: readonly FileAction[], target: Target): void {
  for (const { rawPath, want } of actions.toReversed()) {
    if (want?.type !== "directory") continue;
    using directory = target.findDirectory(rawPath.slice(1));
    if (directory === null) continue;
    const { atimeNs, mtimeNs } = lstatSync(toBytes(want.hostPath), { bigint: true });
    utimesSync(`${fdPath(directory.fd)}/.`, secondsOf(atimeNs), secondsOf(mtimeNs));
  }
}

function failureOf(error: unknown): unknown {
  if (!(error instanceof PutBack))
    return explainFailure(error, "each file is the old or the new one");
  const {
    cause,
    left: [first],
  } = error;
  if (first === undefined) return explainFailure(cause, "all was put back");
  const path = `/${toText(first.path)}`;
  const outcome = `all was put back but what was changed since, ${path} for one`;
  return explainFailure(cause, outcome);
}
