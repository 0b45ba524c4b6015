import { type BigIntStats, closeSync, constants, fstatSync } from "node:fs";
import { chmod, chown, type FileHandle, lchown, open, symlink, unlink } from "node:fs/promises";
import { isSystemError, type RawPath, toBytes } from "../../base/index.ts";
import { linkOpenFile, makeFifo, openBelow } from "../../linux/kernel/index.ts";
import { type CopyJob, copyAttributes, copyContent } from "../files/index.ts";
import { openEntry } from "../moment/index.ts";
import type { Journal, KeptStep } from "./journal.ts";
import { identityOf, isIdentical, type Plan, type Step } from "./plan.ts";
import { nameOf, parentOf, statusOf, type Target, type TargetPath } from "./target.ts";
import { digestOf, linkTargetOf, type Version, versionOf } from "./version.ts";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
const O_PATH = 0o10000000;
const SET_ID_BITS = 0o6000;

/** What staging works with. */
export interface StagingContext {
  target: Target;
  job: CopyJob;
  journal: Journal;
  id: string;
}

/**
 * Returns the steps of a plan, each with the name under which it is made before it takes its own.
 *
 * That is in the nearest directory that is there and stays: on the same filesystem, so that a
 * rename is all that is left to do.
 */
export function placeSteps({ steps }: Plan, target: Target, id: string): (Step & KeptStep)[] {
  const leaving = new Set(steps.filter(({ kind }) => kind === "delete").map(({ path }) => path));
  const known = new Map<TargetPath, boolean>();
  const isThere = (directory: TargetPath) => {
    const found = known.get(directory) ?? hasDirectory(target, directory);
    known.set(directory, found);
    return found;
  };
  return steps.map((step) => {
    let directory = parentOf(step.path);
    while (directory !== "" && (leaving.has(directory) || !isThere(directory))) {
      directory = parentOf(directory);
    }
    return { ...step, stage: { directory, name: `.waypoint-apply-${id}-${step.number}` } };
  });
}

function hasDirectory(target: Target, directory: TargetPath): boolean {
  try {
    using found = target.openDirectory(directory);
    return found !== null;
  } catch (error) {
    if (isSystemError(error, "ENOTDIR", "ELOOP")) return false;
    throw error;
  }
}

/**
 * Makes what a step needs: the new version beside the path, and a copy of the old one for undo.
 *
 * @returns the step as it is kept, with what tells the new version from others.
 * @throws Changed  the path is not what the plan has seen.
 */
export async function stageStep(
  step: Step & KeptStep,
  staged: Map<string, KeptStep["stage"]>,
  context: StagingContext,
): Promise<KeptStep> {
  const { merged: _merged, ...kept } = step;
  context.job.throwIfGone();
  await keepOld(step, context);
  if (step.kind === "attributes" && step.after !== null) {
    const rights = rightsOf(step.after, step.before, context.job);
    return { ...kept, after: { ...rights, content: step.before?.content ?? { digest: "" } } };
  }
  if (step.kind !== "write" || step.after === null) return kept;
  if (step.merged !== null) await keepJoined(step, step.after, context);
  using directory = context.target.openDirectory(step.stage.directory);
  if (directory === null) throw new Changed(step.path);
  const place = `/proc/self/fd/${directory.fd}/${step.stage.name}`;
  const earlier = step.linkKey === null ? undefined : staged.get(step.linkKey);
  const isLinked = earlier !== undefined && linkStaged(earlier, directory.fd, step, context);
  if (!isLinked) await makeNew(step, step.after, { place, directoryFd: directory.fd }, context);
  if (step.linkKey !== null) staged.set(step.linkKey, step.stage);
  const made = versionOf(statusOf(place) as BigIntStats, place);
  return { ...kept, after: { ...made, content: { digest: await digestOf(made) } } };
}

/** Thrown where a path is not what the plan has seen: somebody has changed it meanwhile. */
export class Changed extends Error {
  readonly path: TargetPath;

  constructor(path: TargetPath) {
    super(`${path} was changed meanwhile`);
    this.path = path;
  }
}

async function keepOld(step: Step, { target, job, journal, id }: StagingContext): Promise<void> {
  if (step.identity === null) return;
  await target.look(step.path, async ({ version, status }) => {
    const now = version === null || status === null ? null : identityOf(status, version);
    if (status === null || version === null || !isIdentical(now, step.identity)) {
      throw new Changed(step.path);
    }
    if (version.type !== "file" || step.kind === "attributes") return;
    const { hostPath } = version.content as { hostPath: RawPath };
    await using from = await openEntry({ hostPath });
    await using to = await open(journal.oldPath(id, step.number), "wx", 0o600);
    await copyContent(from, to, job);
    const { rules } = job;
    job.rules = { owner: null, dropsPrivileges: false };
    await copyAttributes(to.fd, { rawPath: step.path, hostPath, status }, job);
    job.rules = rules;
  });
}

/** Keeps the text that was joined with another one, so that a later one can be joined, too. */
async function keepJoined(
  { number }: Step,
  { content }: Version,
  { job, journal, id }: StagingContext,
): Promise<void> {
  await using from = await openEntry(content as { hostPath: RawPath });
  await using to = await open(journal.joinedPath(id, number), "wx", 0o600);
  await copyContent(from, to, job);
}

async function makeNew(
  step: Step,
  after: Version,
  { place, directoryFd }: { place: RawPath; directoryFd: number },
  { job, target }: StagingContext,
): Promise<void> {
  if (after.type === "symlink") {
    await symlink(asText(toBytes(targetOf(after))), toBytes(place));
    return await lchown(toBytes(place), after.uid, after.gid);
  }
  if (after.type === "fifo") {
    makeFifo(directoryFd, toBytes(nameOf(place)));
    return await giveRights({ directoryFd, name: nameOf(place) }, after);
  }
  await using to = await open(
    asText(toBytes(place)),
    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
    0o600,
  );
  await fill(to, step, after, job);
  // All of the target's own filesystem is synced at once, later.
  const isElsewhere = (await to.stat()).dev !== fstatSync(target.rootFd).dev;
  if (isElsewhere) await to.sync();
}

/** Gives what a name stands for a mode and an owner; a link is not followed. */
export async function giveRights(
  { directoryFd, name }: { directoryFd: number; name: RawPath },
  { mode, uid, gid }: Pick<Version, "mode" | "uid" | "gid">,
): Promise<void> {
  const fd = openBelow(directoryFd, toBytes(name), O_PATH | O_NOFOLLOW);
  try {
    await chown(`/proc/self/fd/${fd}`, uid, gid);
    await chmod(`/proc/self/fd/${fd}`, mode);
  } finally {
    closeSync(fd);
  }
}

/** Removes a name; succeeds when it is gone already. */
export async function removeName(place: RawPath): Promise<void> {
  // A filesystem that is read-only refuses also where there is nothing.
  if (statusOf(place) === null) return;
  await unlink(toBytes(place)).catch((error: unknown) => {
    if (!isSystemError(error, "ENOENT")) throw error;
  });
}

/** Gives what was staged for another path of the same file one more name, where that is possible. */
function linkStaged(
  { directory, name }: KeptStep["stage"],
  directoryFd: number,
  { stage }: KeptStep,
  { target }: StagingContext,
): boolean {
  using from = target.openDirectory(directory);
  if (from === null) return false;
  const fd = openBelow(from.fd, toBytes(name), O_PATH | O_NOFOLLOW);
  try {
    linkOpenFile(fd, directoryFd, toBytes(stage.name));
    return true;
  } catch (error) {
    if (isSystemError(error, "EXDEV", "EMLINK", "EPERM")) return false;
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** Returns where a link leads that is to be made; one that is kept has it in place of a digest. */
function targetOf({ content }: Version): RawPath {
  if ("hostPath" in content) return linkTargetOf(content.hostPath);
  return content.digest.slice("link:".length);
}

async function fill(to: FileHandle, step: Step, after: Version, job: CopyJob): Promise<void> {
  const { hostPath } = after.content as { hostPath: RawPath };
  if (step.merged === null) {
    await using from = await openEntry({ hostPath });
    await copyContent(from, to, job);
  } else await to.writeFile(step.merged);
  const status = statusOf(hostPath);
  if (status === null) throw new Changed(step.path);
  await copyAttributes(to.fd, { rawPath: `/${step.path}`, hostPath, status }, job);
  if (step.merged !== null) await to.utimes(new Date(), new Date());
  const made = await to.stat();
  const rights = rightsOf(after, step.before, job);
  if (made.uid !== after.uid || made.gid !== after.gid) await to.chown(after.uid, after.gid);
  await to.chmod(rights.mode);
}

/** What gives rights to whoever runs a file is taken over only where it was there before. */
function rightsOf(after: Version, before: Version | null, { rules }: CopyJob): Version {
  if (!rules.dropsPrivileges || after.type !== "file") return after;
  const had = (before?.mode ?? 0) & SET_ID_BITS;
  return { ...after, mode: (after.mode & ~SET_ID_BITS) | (after.mode & had) };
}

/** Node takes the bytes of a path here as elsewhere; its types do not say so. */
function asText(bytes: Buffer): string {
  return bytes as unknown as string;
}
