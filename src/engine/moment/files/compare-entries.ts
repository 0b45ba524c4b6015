import type { ReadingCalls } from "../../ports/index.ts";
import type { Pace } from "../pace.ts";
import { linkTarget, type TreeEntry } from "./overlay-tree.ts";
import type { Aspect } from "./raw-change.ts";
import { haveSameAttributes, haveSameBytes } from "./same-content.ts";

/** What the snapshots themselves tell of inodes that both have. */
export interface InodeFacts {
  /** Inodes up to this number are the same in both; `0` where nothing is known of their descent. */
  sharedInodeMax: number;
  written: ReadonlyMap<number, readonly { offset: number; size: number }[]>;
  attributes: ReadonlySet<number>;
}

/** Returns what differs between two entries, of which not only one is a directory. */
export async function compareEntries(
  before: TreeEntry,
  after: TreeEntry,
  facts: InodeFacts,
  { pace, calls }: { pace: Pace; calls: ReadingCalls },
): Promise<Aspect[]> {
  if (before.hostPath === after.hostPath) return [];
  const what: Aspect[] = [];
  if (before.type !== after.type) what.push("type");
  else if (before.type === "symlink" && linkTarget(before) !== linkTarget(after))
    what.push("target");
  else if (before.device !== after.device) what.push("device");
  if (await hasOtherContent(before, after, facts, pace)) what.push("content");
  if (before.mode !== after.mode) what.push("mode");
  if (before.uid !== after.uid || before.gid !== after.gid) what.push("owner");
  if (before.type === after.type && haveOtherAttributes(before, after, facts, calls)) {
    what.push("attributes");
  }
  return what;
}

/**
 * Tells whether both are the same inode of the subvolume.
 *
 * Two branches give their new inodes the same numbers, even in the same generation, and the kernel
 * takes them for one then. Only what their common ancestor had already is one.
 */
export function isSameInode(
  before: InodeOf,
  after: InodeOf,
  { sharedInodeMax }: Pick<InodeFacts, "sharedInodeMax">,
): boolean {
  const { upperInode } = after;
  return upperInode !== null && upperInode === before.upperInode && upperInode <= sharedInodeMax;
}

/** What tells an inode from others. */
export type InodeOf = Pick<TreeEntry, "upperInode">;

async function hasOtherContent(
  before: TreeEntry,
  after: TreeEntry,
  facts: InodeFacts,
  pace: Pace,
): Promise<boolean> {
  if (after.type !== "file" || before.type !== "file") return false;
  const isSame = isSameInode(before, after, facts);
  const written = isSame ? facts.written.get(after.upperInode ?? 0) : undefined;
  if (isSame && written === undefined) return false;
  if (before.sizeBytes !== after.sizeBytes) return true;
  if (isBaseOfBoth(before, after)) return false;
  const ranges = written ?? [{ offset: 0, size: after.sizeBytes }];
  const areEqual = await haveSameBytes(before, after, ranges, pace);
  // Too much to read: a copy that keeps the time to the nanosecond was not written to.
  return areEqual === null ? before.mtimeNs !== after.mtimeNs : !areEqual;
}

function haveOtherAttributes(
  before: TreeEntry,
  after: TreeEntry,
  facts: InodeFacts,
  calls: ReadingCalls,
): boolean {
  if (isBaseOfBoth(before, after)) return false;
  if (isSameInode(before, after, facts) && !facts.attributes.has(after.upperInode ?? 0)) {
    return false;
  }
  return !haveSameAttributes(before, after, calls);
}

/** The base does not change, so what both show of it is the same, unless it is another file. */
function isBaseOfBoth(before: TreeEntry, after: TreeEntry): boolean {
  const isBase = before.upperInode === null && after.upperInode === null;
  return isBase && before.mtimeNs === after.mtimeNs && before.sizeBytes === after.sizeBytes;
}
