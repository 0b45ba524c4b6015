import type { ByteRange } from "./replay-changes.ts";
import type { Difference, SubvolumeChanges } from "./send-difference.ts";

/**
 * Tells where two subvolumes may differ from how each differs from a common ancestor.
 *
 * @param ours  from the ancestor to the first.
 * @param theirs  from the ancestor to the second.
 */
export function combineDifferences(ours: Difference, theirs: Difference): SubvolumeChanges {
  return {
    before: touched(ours, theirs),
    after: touched(theirs, ours),
    moved: combineMoves(ours, theirs),
    // Those that the first has made are others, even if they have the same numbers.
    created: theirs.created,
    written: combineWritten(ours.written, theirs.written),
    attributes: new Set([...ours.attributes, ...theirs.attributes]),
  };
}

/** Returns the paths of a side that it has changed itself, or whose counterpart the other has. */
function touched(side: Difference, other: Difference): Set<string> {
  const paths = new Set(side.after);
  for (const pathOfAncestor of other.before) {
    for (const path of side.pathsAfter(pathOfAncestor)) paths.add(path);
  }
  return paths;
}

function combineMoves(ours: Difference, theirs: Difference): Map<string, string> {
  const moved = new Map<string, string>();
  for (const [after, origin] of theirs.moved) {
    const [before] = ours.pathsAfter(origin);
    if (before !== undefined && before !== after) moved.set(after, before);
  }
  for (const [before, origin] of ours.moved) {
    for (const after of theirs.pathsAfter(origin)) {
      if (after !== before && !moved.has(after)) moved.set(after, before);
    }
  }
  return moved;
}

/** What either side has written to an inode of the ancestor may differ. */
function combineWritten(
  ours: ReadonlyMap<number, ByteRange[]>,
  theirs: ReadonlyMap<number, ByteRange[]>,
): Map<number, ByteRange[]> {
  const written = new Map(ours);
  for (const [inode, ranges] of theirs) {
    written.set(inode, [...(written.get(inode) ?? []), ...ranges]);
  }
  return written;
}
