import { rmdir } from "node:fs/promises";
import { isSystemError, toBytes } from "../../base/index.ts";
import { Changed, identityOf, isIdentical, MOVED, type StagedChange } from "./change.ts";
import { identityAt, type Names, namesOf } from "./names.ts";
import { giveRights } from "./rights.ts";
import { nameOf, type Target } from "./target.ts";

/** So often is looked again at what somebody changes all the time. */
const TRIES_MAX = 5;
const REPLACED = "something else was put in its place meanwhile";

/**
 * Carries out a change that is staged.
 *
 * A file is exchanged for the new one in one step, and only then is it made sure that it was the
 * one that was seen: otherwise it is put back at once.
 *
 * @throws Changed  somebody has changed the path meanwhile; it is as they left it.
 */
export async function commitChange(change: StagedChange, target: Target): Promise<void> {
  using open = new DisposableStack();
  const names = namesOf(change, target, open);
  if (names === null) throw new Changed(change.path, MOVED);
  try {
    if (change.kind === "write" || change.kind === "mkdir") commitWrite(change, names);
    else if (change.kind === "delete") await commitDelete(change, names);
    else {
      if (!isIdentical(identityAt(names.ownPlace), change.identity)) throw new Changed(change.path);
      const { directoryFd } = names.own;
      const name = { directoryFd, name: nameOf(change.path) };
      if (change.after !== null) await giveRights(name, change.after, target.calls);
    }
  } catch (error) {
    if (isSystemError(error, "ENOTEMPTY")) {
      throw new Changed(change.path, "there is something else in it");
    }
    const isTaken = isSystemError(error, "EEXIST", "ENOENT", "ENOTDIR");
    throw isTaken ? new Changed(change.path) : error;
  }
}

/**
 * Carries out a change that is staged, also where somebody has written to the path meanwhile: what
 * they have put there goes, as it would have gone a moment earlier. Not so what is of another kind.
 *
 * @returns the change as it was carried out: what it has replaced is put back where it is reverted.
 * @throws Changed  it cannot be done; the path is as they left it.
 */
export async function commitLatest<C extends StagedChange>(change: C, target: Target): Promise<C> {
  let latest = change;
  for (let tries = 1; ; tries += 1) {
    try {
      await commitChange(latest, target);
      return latest;
    } catch (error) {
      if (isSystemError(error, "EBUSY")) {
        throw new Changed(change.path, "something is mounted there");
      }
      if (!(error instanceof Changed) || tries === TRIES_MAX) throw error;
    }
    latest = await lookAgain(latest, target);
  }
}

/** Returns a change of what is at its path now. @throws Changed  that is of another kind. */
async function lookAgain<C extends StagedChange>(change: C, target: Target): Promise<C> {
  const { kind, path } = change;
  return await target.look(path, async ({ version, status, isBlocked }) => {
    if (isBlocked) throw new Changed(path, MOVED);
    const isDirectory = version?.type === "directory";
    const identity = version === null || status === null ? null : identityOf(status, version);
    const isOther = kind === "attributes" ? identity?.type !== change.identity?.type : isDirectory;
    if (kind === "write" || kind === "attributes") {
      if (isOther) throw new Changed(path, REPLACED);
    } else if (kind === "mkdir" && identity !== null) {
      // Somebody has made it: it gets its rights, and stays where all is put back.
      if (!isDirectory) throw new Changed(path, REPLACED);
      const before = { ...version, content: { digest: "" } };
      return { ...change, kind: "attributes", identity, before };
    }
    return { ...change, identity };
  });
}

function commitWrite(change: StagedChange, { staged, own, stagedPlace, calls }: Names): void {
  calls.renameSafely(staged, own, change.identity === null ? "no-replace" : "exchange");
  if (change.identity === null || isIdentical(identityAt(stagedPlace), change.identity)) return;
  calls.renameSafely(staged, own, "exchange");
  throw new Changed(change.path);
}

async function commitDelete(
  { identity, path }: StagedChange,
  { staged, own, ownPlace, stagedPlace, calls }: Names,
): Promise<void> {
  if (identity === null) return;
  if (identity.type === "directory") return await rmdir(toBytes(ownPlace));
  calls.renameSafely(own, staged, "no-replace");
  if (isIdentical(identityAt(stagedPlace), identity)) return;
  calls.renameSafely(staged, own, "no-replace");
  throw new Changed(path);
}

/**
 * Makes sure that nobody has written to what changes have replaced, which lies beside until it is
 * removed: a program may have had it open.
 *
 * @throws Changed
 */
export function requireUnwritten(changes: readonly StagedChange[], target: Target): void {
  for (const change of changes) {
    if (change.identity === null || !["write", "delete"].includes(change.kind)) continue;
    using open = new DisposableStack();
    const names = namesOf(change, target, open);
    const beside = names === null ? null : identityAt(names.stagedPlace);
    if (beside !== null && !isIdentical(beside, change.identity)) throw new Changed(change.path);
  }
}
