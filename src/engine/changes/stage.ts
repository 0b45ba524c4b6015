import { type BigIntStats, closeSync, constants, fstatSync, lstatSync } from "node:fs";
import { lchown, mkdir, open, symlink } from "node:fs/promises";
import { fdPath, isSystemError, type RawPath, toBytes } from "../../base/index.ts";
import {
  type CopyJob,
  copyAttributes,
  copyContent,
  makeCopy,
  type NameAt,
  placeOf,
  xattrsOf,
} from "../files/index.ts";
import { openEntry } from "../moment/index.ts";
import {
  type Change,
  Changed,
  identityOf,
  isIdentical,
  MOVED,
  type Stage,
  stagedBeginning,
} from "./change.ts";
import { giveRights, NEW_DIRECTORY_MODE } from "./rights.ts";
import { parentOf, statusOf, type Target, type TargetPath } from "./target.ts";
import { digestOf, type Version, versionOf } from "./version.ts";

const O_PATH = 0o10000000;
const SET_ID_BITS = 0o6000;

/** Where what is needed later is copied to, by the number of a change. */
export interface KeptFiles {
  oldPath: (number: number) => string;
  joinedPath: (number: number) => string;
}

/** What staging works with. */
export interface StagingContext {
  target: Target;
  job: CopyJob;
  /** `null` where nothing is needed after the process. */
  kept: KeptFiles | null;
  /** What is there must be what was seen. */
  isSure: boolean;
}

/**
 * Returns changes, each with the name under which it is made before it takes its own.
 *
 * That is in the nearest directory that is there and stays: on the same filesystem, so that a
 * rename is all that is left to do.
 */
export function placeChanges<C extends Change>(
  changes: readonly C[],
  target: Target,
  id: string,
): (C & { stage: Stage })[] {
  const leaving = new Set(changes.filter(({ kind }) => kind === "delete").map(({ path }) => path));
  const known = new Map<TargetPath, boolean>();
  const isThere = (directory: TargetPath) => {
    const found = known.get(directory) ?? hasDirectory(target, directory);
    known.set(directory, found);
    return found;
  };
  return changes.map((change) => {
    let directory = parentOf(change.path);
    while (directory !== "" && (leaving.has(directory) || !isThere(directory))) {
      directory = parentOf(directory);
    }
    return { ...change, stage: { directory, name: `${stagedBeginning(id)}${change.number}` } };
  });
}

function hasDirectory(target: Target, directory: TargetPath): boolean {
  using found = target.findDirectory(directory);
  return found !== null;
}

/**
 * Makes what a change needs: the new version beside the path, and a copy of the old one where it is
 * kept.
 *
 * @param staged  by link key what was staged before; this one is added.
 * @returns the change with what tells the new version from others.
 * @throws Changed  the path is not what was seen.
 */
export async function stageChange<C extends Change & { stage: Stage }>(
  change: C,
  staged: Map<string, Stage>,
  context: StagingContext,
): Promise<C> {
  const { kind, after, before, stage, linkKey } = change;
  context.job.throwIfGone();
  const xattrs = await keepOld(change, context);
  if (kind === "attributes" && after !== null) {
    const rights = rightsOf(after, before, context.job);
    const content = before?.content ?? { digest: "" };
    // A file of which they differ is written anew.
    const isWhole = after.type === "directory" && "hostPath" in after.content;
    if (!isWhole) return { ...change, after: { ...rights, content } };
    const { hostPath } = after.content as { hostPath: RawPath };
    const wanted = xattrsOf(hostPath, context.target.calls);
    const old = before === null ? null : { ...before, xattrs };
    return { ...change, before: old, after: { ...rights, xattrs: wanted, content } };
  }
  if (after === null || kind === "delete") return change;
  if (change.merged !== null) await keepJoined(change, after, context);
  using directory = context.target.findDirectory(stage.directory);
  if (directory === null) throw new Changed(change.path, MOVED);
  const name = { directoryFd: directory.fd, name: stage.name };
  const earlier = linkKey === null || kind === "mkdir" ? undefined : staged.get(linkKey);
  const isLinked = earlier !== undefined && linkStaged(earlier, name, context);
  if (!isLinked) await makeNew(change, after, name, context);
  if (linkKey !== null) staged.set(linkKey, stage);
  if (context.kept === null) return change;
  const place = `${fdPath(directory.fd)}/${stage.name}`;
  const made = versionOf(statusOf(place) as BigIntStats, place);
  return { ...change, after: { ...made, content: { digest: await digestOf(made) } } };
}

/** Brings all of a target's filesystem to the disk. */
export async function syncTarget({ rootFd, calls }: Target): Promise<void> {
  const fd = calls.openBelow(rootFd, Buffer.from("."), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await calls.syncFilesystem(fd);
  } finally {
    closeSync(fd);
  }
}

/** Returns the extended attributes of what is there, where they are to change. */
async function keepOld(
  { path, kind, identity, number }: Change,
  { target, job, kept, isSure }: StagingContext,
): Promise<Record<string, string>> {
  if (identity === null || !(isSure || kind === "attributes")) return {};
  return await target.look(path, async ({ version, status }) => {
    const now = version === null || status === null ? null : identityOf(status, version);
    if (status === null || version === null || !isIdentical(now, identity)) {
      throw new Changed(path);
    }
    const { hostPath } = version.content as { hostPath: RawPath };
    if (kind === "attributes") return xattrsOf(hostPath, target.calls);
    if (version.type !== "file" || kept === null) return {};
    await using from = await openEntry({ hostPath });
    await using to = await open(kept.oldPath(number), "wx", 0o600);
    await copyContent(from, to, job);
    const { rules } = job;
    job.rules = { owner: null, dropsPrivileges: false };
    await copyAttributes(to.fd, { rawPath: path, hostPath, status }, job);
    job.rules = rules;
    return {};
  });
}

/** Keeps the text that was joined with another one, so that a later one can be joined, too. */
async function keepJoined(
  { number }: Change,
  { content }: Version,
  { job, kept }: StagingContext,
): Promise<void> {
  if (kept === null) return;
  await using from = await openEntry(content as { hostPath: RawPath });
  await using to = await open(kept.joinedPath(number), "wx", 0o600);
  await copyContent(from, to, job);
}

/** Makes a new version, of which all that is to be kept may be known but its bytes. */
async function makeNew(
  { path, merged, before }: Change,
  after: Version,
  staged: NameAt,
  { job, target, kept }: StagingContext,
): Promise<void> {
  if ("hostPath" in after.content) {
    const { hostPath } = after.content;
    const status = statusOf(hostPath);
    if (status === null) throw new Changed(path);
    const original = { rawPath: `/${path}`, hostPath, status };
    if (!(await makeCopy(original, staged, job, merged))) throw new Changed(path);
  } else if (after.type === "symlink") {
    const leadsTo = after.content.digest.slice("link:".length);
    // Node takes the bytes of a path here as elsewhere; its types do not say so.
    await symlink(toBytes(leadsTo) as unknown as string, placeOf(staged));
  } else if (after.type === "fifo") target.calls.makeFifo(staged.directoryFd, toBytes(staged.name));
  else await mkdir(placeOf(staged), NEW_DIRECTORY_MODE);
  if (after.type === "symlink") return await lchown(placeOf(staged), after.uid, after.gid);
  await giveRights(staged, rightsOf(after, before, job), target.calls);
  if (kept !== null && after.type === "file") await syncElsewhere(staged, target);
}

/** All of the target's own filesystem is synced at once, later. */
async function syncElsewhere(staged: NameAt, { rootFd }: Target): Promise<void> {
  const place = placeOf(staged);
  if (lstatSync(place).dev === fstatSync(rootFd).dev) return;
  await using file = await open(place as unknown as string, constants.O_RDONLY);
  await file.sync();
}

/** Gives what was staged for another path of the same file one more name, where that is possible. */
function linkStaged(
  { directory, name }: Stage,
  to: NameAt,
  { target }: Pick<StagingContext, "target">,
): boolean {
  using from = target.findDirectory(directory);
  if (from === null) return false;
  const fd = target.calls.openBelow(from.fd, toBytes(name), O_PATH | constants.O_NOFOLLOW);
  try {
    target.calls.linkOpenFile(fd, to.directoryFd, toBytes(to.name));
    return true;
  } catch (error) {
    if (isSystemError(error, "EXDEV", "EMLINK", "EPERM")) return false;
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** What gives rights to whoever runs a file is taken over only where it was there before. */
function rightsOf(after: Version, before: Version | null, { rules }: CopyJob): Version {
  if (!rules.dropsPrivileges || after.type !== "file") return after;
  const had = (before?.mode ?? 0) & SET_ID_BITS;
  return { ...after, mode: (after.mode & ~SET_ID_BITS) | (after.mode & had) };
}
