import { mkdir, rmdir } from "node:fs/promises";
import { isSystemError, type RawPath, toBytes } from "../../base/index.ts";
import { renameSafely } from "../../linux/kernel/index.ts";
import type { KeptStep } from "./journal.ts";
import { identityOf, isIdentical } from "./plan.ts";
import { Changed, giveRights, removeName } from "./stage.ts";
import { nameOf, parentOf, statusOf, type Target } from "./target.ts";
import { isSame, versionOf } from "./version.ts";

const NEW_DIRECTORY_MODE = 0o700;
const CHANGED_SINCE = "changed since; the old version stays beside it";

/** The two names of a step: its own, and that of what was made for it. */
interface Names {
  own: { directoryFd: number; name: Buffer };
  staged: { directoryFd: number; name: Buffer };
  ownPlace: RawPath;
  stagedPlace: RawPath;
}

/**
 * Carries out a step that is staged.
 *
 * A file is exchanged for the new one in one step, and only then is it made sure that it was the
 * one that the plan has seen: otherwise it is put back at once.
 *
 * @throws Changed  somebody has changed the path meanwhile; it is as they left it.
 */
export async function commitStep(step: KeptStep, target: Target): Promise<void> {
  using open = new DisposableStack();
  const names = namesOf(step, target, open);
  if (names === null) throw new Changed(step.path);
  try {
    if (step.kind === "write") await commitWrite(step, names);
    else if (step.kind === "delete") await commitDelete(step, names);
    else if (step.kind === "mkdir") {
      await mkdir(toBytes(names.ownPlace), NEW_DIRECTORY_MODE);
      if (step.after !== null) await giveRights(ownName(step, names), step.after);
    } else {
      requireIdentity(step, names.ownPlace);
      if (step.after !== null) await giveRights(ownName(step, names), step.after);
    }
  } catch (error) {
    const isTaken = isSystemError(error, "EEXIST", "ENOTEMPTY", "ENOENT", "ENOTDIR");
    throw isTaken ? new Changed(step.path) : error;
  }
}

async function commitWrite(step: KeptStep, names: Names): Promise<void> {
  if (step.identity === null) return renameSafely(names.staged, names.own, "no-replace");
  renameSafely(names.staged, names.own, "exchange");
  if (isIdentical(identityAt(names.stagedPlace), step.identity)) return;
  renameSafely(names.staged, names.own, "exchange");
  throw new Changed(step.path);
}

async function commitDelete(step: KeptStep, names: Names): Promise<void> {
  if (step.identity?.type === "directory") return await rmdir(toBytes(names.ownPlace));
  renameSafely(names.own, names.staged, "no-replace");
  if (isIdentical(identityAt(names.stagedPlace), step.identity)) return;
  renameSafely(names.staged, names.own, "no-replace");
  throw new Changed(step.path);
}

/**
 * Makes sure that nobody has written to what steps have replaced, which lies beside until it is
 * removed: a program may have had it open.
 *
 * @throws Changed
 */
export function requireUnwritten(steps: readonly KeptStep[], target: Target): void {
  for (const step of steps) {
    if (step.identity === null || !["write", "delete"].includes(step.kind)) continue;
    using open = new DisposableStack();
    const names = namesOf(step, target, open);
    const beside = names === null ? null : identityAt(names.stagedPlace);
    if (beside !== null && !isIdentical(beside, step.identity)) throw new Changed(step.path);
  }
}

/**
 * Puts a step back, or what was made for it, whatever of it had been done.
 *
 * @returns why it stays as it is, where somebody has changed it since; `null` when it is put back.
 */
export async function revertStep(step: KeptStep, target: Target): Promise<string | null> {
  const wasCommitted = await isCommitted(step, target);
  // What was made for it; of what was exchanged that is the old version, which is needed.
  if (!wasCommitted) {
    if (step.kind === "write") await finishStep(step, target);
    return null;
  }
  using open = new DisposableStack();
  const names = namesOf(step, target, open);
  if (names === null) return "its directory is gone";
  if (step.kind === "mkdir") return await revertMkdir(names);
  if (step.kind === "delete") return await revertDelete(step, names);
  const now = statusOf(names.ownPlace);
  const isOurs = now !== null && (await isSame(versionOf(now, names.ownPlace), step.after));
  if (step.kind === "attributes") {
    if (isOurs && step.before !== null) await giveRights(ownName(step, names), step.before);
    return isOurs ? null : "changed since";
  }
  if (!isOurs) return CHANGED_SINCE;
  return await revertWrite(step, names);
}

async function revertWrite(step: KeptStep, names: Names): Promise<string | null> {
  const isExchanged = step.identity !== null;
  if (isExchanged) renameSafely(names.staged, names.own, "exchange");
  else renameSafely(names.own, names.staged, "no-replace");
  const beside = statusOf(names.stagedPlace);
  // Somebody may have changed it between the last look and now.
  if (beside !== null && !(await isSame(versionOf(beside, names.stagedPlace), step.after))) {
    renameSafely(names.staged, names.own, isExchanged ? "exchange" : "no-replace");
    return CHANGED_SINCE;
  }
  await removeName(names.stagedPlace);
  return null;
}

async function revertMkdir(names: Names): Promise<string | null> {
  try {
    await rmdir(toBytes(names.ownPlace));
    return null;
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return null;
    if (isSystemError(error, "ENOTEMPTY", "EEXIST", "ENOTDIR")) return "something is in it";
    throw error;
  }
}

async function revertDelete(step: KeptStep, names: Names): Promise<string | null> {
  try {
    if (step.identity?.type !== "directory") {
      renameSafely(names.staged, names.own, "no-replace");
      return null;
    }
    await mkdir(toBytes(names.ownPlace), NEW_DIRECTORY_MODE);
    if (step.before !== null) await giveRights(ownName(step, names), step.before);
    return null;
  } catch (error) {
    if (isSystemError(error, "EEXIST")) return "something else is there now";
    // Somebody else has removed it before it was to be.
    if (isSystemError(error, "ENOENT")) return null;
    throw error;
  }
}

/** Removes what a step has replaced; it is kept for undo elsewhere. */
export async function finishStep(step: KeptStep, target: Target): Promise<void> {
  if (step.kind !== "write" && step.kind !== "delete") return;
  using directory = target.openDirectory(step.stage.directory);
  if (directory !== null) await removeName(`/proc/self/fd/${directory.fd}/${step.stage.name}`);
}

/** Tells from the files themselves whether a step was carried out: a crash leaves nothing else. */
export async function isCommitted(step: KeptStep, target: Target): Promise<boolean> {
  using open = new DisposableStack();
  const names = namesOf(step, target, open);
  // Without its directory there is nothing at the path.
  if (names === null) return step.kind === "delete";
  const own = statusOf(names.ownPlace);
  const staged = statusOf(names.stagedPlace);
  if (step.kind === "mkdir") return own?.isDirectory() === true;
  if (step.kind === "delete") {
    return step.identity?.type === "directory"
      ? own?.isDirectory() !== true
      : staged !== null || own === null;
  }
  if (step.kind === "attributes") {
    return own !== null && step.after !== null && hasRights(own, step.after);
  }
  if (staged === null) return true;
  if (step.identity === null) return false;
  // What is beside is the new one until they are exchanged; then the old one, which whoever had it
  // open may have written to. They can be alike in all but what a digest tells.
  const isNewBeside = await isSame(versionOf(staged, names.stagedPlace), step.after);
  return !isNewBeside || isIdentical(identityAt(names.stagedPlace), step.identity);
}

function hasRights(
  { mode, uid, gid }: { mode: bigint; uid: bigint; gid: bigint },
  after: { mode: number; uid: number; gid: number },
): boolean {
  const isSameMode = (Number(mode) & 0o7777) === after.mode;
  return isSameMode && Number(uid) === after.uid && Number(gid) === after.gid;
}

function requireIdentity(step: KeptStep, place: RawPath): void {
  if (!isIdentical(identityAt(place), step.identity)) throw new Changed(step.path);
}

function identityAt(place: RawPath) {
  const status = statusOf(place);
  return status === null ? null : identityOf(status, versionOf(status, place));
}

function ownName({ path }: KeptStep, { own }: Names) {
  return { directoryFd: own.directoryFd, name: nameOf(path) };
}

function namesOf({ path, stage }: KeptStep, target: Target, open: DisposableStack): Names | null {
  try {
    const parent = target.openDirectory(parentOf(path));
    if (parent !== null) open.use(parent);
    const beside = target.openDirectory(stage.directory);
    if (beside !== null) open.use(beside);
    if (parent === null || beside === null) return null;
    return {
      own: { directoryFd: parent.fd, name: toBytes(nameOf(path)) },
      staged: { directoryFd: beside.fd, name: toBytes(stage.name) },
      ownPlace: `/proc/self/fd/${parent.fd}/${nameOf(path)}`,
      stagedPlace: `/proc/self/fd/${beside.fd}/${stage.name}`,
    };
  } catch (error) {
    if (isSystemError(error, "ENOTDIR", "ELOOP")) return null;
    throw error;
  }
}
