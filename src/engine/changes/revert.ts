import { mkdir, readdir, rmdir, unlink } from "node:fs/promises";
import { fdPath, isSystemError, type RawPath, toBytes } from "../../base/index.ts";
import { isIdentical, type StagedChange, stagedBeginning } from "./change.ts";
import { identityAt, type Names, namesOf } from "./names.ts";
import { giveRights, hasXattrsOf, NEW_DIRECTORY_MODE } from "./rights.ts";
import { nameOf, statusOf, type Target, type TargetPath } from "./target.ts";
import { isSame, type Version, versionOf } from "./version.ts";

const CHANGED_SINCE = "changed since; the old version stays beside it";

/**
 * Puts a change back, or what was made for it, whatever of it had been done.
 *
 * @returns why it stays as it is, where somebody has changed it since; `null` when it is put back.
 */
export async function revertChange(change: StagedChange, target: Target): Promise<string | null> {
  // What was made for it; of what was exchanged that is the old version, which is needed.
  if (!(await isCommitted(change, target))) {
    if (change.kind !== "delete") await removeStaged(change, target);
    return null;
  }
  using open = new DisposableStack();
  const names = namesOf(change, target, open);
  if (names === null) return "its directory is gone";
  if (change.kind === "mkdir") return await revertMkdir(names);
  if (change.kind === "delete") return await revertDelete(change, names);
  const now = statusOf(names.ownPlace);
  const isOurs =
    now !== null && (await isSame(versionOf(now, names.ownPlace), change.after, target.calls));
  if (change.kind === "write") return isOurs ? await revertWrite(change, names) : CHANGED_SINCE;
  const { before, after } = change;
  if (isOurs && before !== null)
    await giveRights(ownName(change, names), before, target.calls, after?.xattrs);
  return isOurs ? null : "changed since";
}

async function revertWrite(change: StagedChange, names: Names): Promise<string | null> {
  const isExchanged = change.identity !== null;
  if (isExchanged) names.calls.renameSafely(names.staged, names.own, "exchange");
  else names.calls.renameSafely(names.own, names.staged, "no-replace");
  const beside = statusOf(names.stagedPlace);
  // Somebody may have changed it between the last look and now.
  if (
    beside !== null &&
    !(await isSame(versionOf(beside, names.stagedPlace), change.after, names.calls))
  ) {
    names.calls.renameSafely(names.staged, names.own, isExchanged ? "exchange" : "no-replace");
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

async function revertDelete(change: StagedChange, names: Names): Promise<string | null> {
  try {
    if (change.identity?.type !== "directory") {
      names.calls.renameSafely(names.staged, names.own, "no-replace");
      return null;
    }
    await mkdir(toBytes(names.ownPlace), NEW_DIRECTORY_MODE);
    if (change.before !== null)
      await giveRights(ownName(change, names), change.before, names.calls);
    return null;
  } catch (error) {
    if (isSystemError(error, "EEXIST")) return "something else is there now";
    // Somebody else has removed it before it was to be.
    if (isSystemError(error, "ENOENT")) return null;
    throw error;
  }
}

/** Removes what lies beside the path: what was made for the change, or what it has replaced. */
export async function removeStaged(change: StagedChange, target: Target): Promise<void> {
  using directory = target.findDirectory(change.stage.directory);
  if (directory !== null) await removeName(`${fdPath(directory.fd)}/${change.stage.name}`);
}

/** Removes all that a list of changes which nobody goes on with has left in some directories. */
export async function removeStaleBeside(
  directories: Iterable<TargetPath>,
  target: Target,
  id: string,
): Promise<void> {
  for (const path of directories) {
    using directory = target.findDirectory(path);
    if (directory === null) continue;
    const names = await readdir(`${fdPath(directory.fd)}/.`, "latin1");
    for (const name of names.filter((each) => each.startsWith(stagedBeginning(id)))) {
      await removeName(`${fdPath(directory.fd)}/${name}`);
    }
  }
}

/** Tells from the files themselves whether a change was carried out: a crash leaves nothing else. */
export async function isCommitted(change: StagedChange, target: Target): Promise<boolean> {
  using open = new DisposableStack();
  const names = namesOf(change, target, open);
  // Without its directory there is nothing at the path.
  if (names === null) return change.kind === "delete";
  const { kind, identity, after } = change;
  const own = statusOf(names.ownPlace);
  const staged = statusOf(names.stagedPlace);
  if (kind === "mkdir") return staged === null && own?.isDirectory() === true;
  if (kind === "delete") {
    return identity?.type === "directory"
      ? own?.isDirectory() !== true
      : staged !== null || own === null;
  }
  if (kind === "attributes") {
    const hasRights = own !== null && after !== null && haveSameRights(own, after);
    return hasRights && hasXattrsOf(names.ownPlace, after, target.calls);
  }
  if (staged === null) return true;
  if (identity === null) return false;
  // What is beside is the new one until they are exchanged; then the old one, which whoever had it
  // open may have written to. They can be alike in all but what a digest tells.
  const isNewBeside = await isSame(versionOf(staged, names.stagedPlace), after, target.calls);
  if (!isNewBeside) return true;
  if (!isIdentical(identityAt(names.stagedPlace), identity)) return false;
  // Both may have the same size and time, as tools give that set times: then what is in place tells.
  return own !== null && (await isSame(versionOf(own, names.ownPlace), after, target.calls));
}

function haveSameRights(
  { mode, uid, gid }: { mode: bigint; uid: bigint; gid: bigint },
  after: Version,
): boolean {
  const isSameMode = (Number(mode) & 0o7777) === after.mode;
  return isSameMode && Number(uid) === after.uid && Number(gid) === after.gid;
}

function ownName({ path }: StagedChange, { own }: Names) {
  return { directoryFd: own.directoryFd, name: nameOf(path) };
}

/** Removes a file, or an empty directory; succeeds when it is gone already. */
async function removeName(place: RawPath): Promise<void> {
  const status = statusOf(place);
  // A filesystem that is read-only refuses also where there is nothing.
  if (status === null) return;
  await (status.isDirectory() ? rmdir : unlink)(toBytes(place)).catch((error: unknown) => {
    if (!isSystemError(error, "ENOENT")) throw error;
  });
}
