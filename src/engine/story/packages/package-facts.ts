import { joinRaw, type RawPath } from "../../../base/index.ts";
import type { BothFiles, MomentFiles, Pace, RawChange, TreeEntry } from "../../moment/index.ts";

/** A directory that moved and has more than this below is not searched for packages. */
const MOVED_ENTRIES_MAX = 50_000;
/** In a directory of this name a move takes packages into an environment or out of it. */
const PACKAGE_PLACE =
  /\/(?:node_modules|site-packages|dist-packages|specifications)(?:\/|$)|\.(?:dist|egg)-info(?:\/|$)/;

/** One path at which something may be told of packages, before and after. */
export interface PathFact {
  path: RawPath;
  before: TreeEntry | null;
  after: TreeEntry | null;
}

/**
 * Returns what changed path by path: what was renamed is gone from one and came to another.
 *
 * A whole project that moved has taken its environment along: nothing of that is told.
 *
 * @param unknown  takes the directories that were too large to be searched.
 */
export async function listFacts(
  changes: readonly RawChange[],
  files: BothFiles,
  unknown: Record<string, string>,
  pace: Pace,
): Promise<Iterable<PathFact>> {
  const facts = new Map<RawPath, PathFact>();
  for (const { path, from, before, after } of changes) {
    await pace.yieldOften();
    if (from === null) {
      facts.set(path, { path, before, after });
      continue;
    }
    if ((after ?? before)?.directory == null) {
      facts.set(from, { path: from, before, after: null });
      facts.set(path, { path, before: null, after });
    } else if (PACKAGE_PLACE.test(from) || PACKAGE_PLACE.test(path)) {
      const gone = await listBelow(files.from, from, unknown, pace);
      const come = await listBelow(files.to, path, unknown, pace);
      for (const [at, entry] of gone) facts.set(at, { path: at, before: entry, after: null });
      for (const [at, entry] of come) facts.set(at, { path: at, before: null, after: entry });
    }
  }
  return facts.values();
}

async function listBelow(
  files: MomentFiles,
  top: RawPath,
  unknown: Record<string, string>,
  pace: Pace,
): Promise<Map<RawPath, TreeEntry>> {
  const found = new Map<RawPath, TreeEntry>();
  const waiting = [top];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const here = files.directory(at);
    if (here === null) continue;
    for (const name of here.tree.namesIn(here.directory)) {
      await pace.yieldOften();
      const entry = here.tree.child(here.directory, name);
      if (entry === null) continue;
      const path = joinRaw(at, name);
      if (entry.directory !== null) waiting.push(path);
      else found.set(path, entry);
      if (found.size + waiting.length <= MOVED_ENTRIES_MAX) continue;
      unknown["packages in a moved directory"] = `more than ${MOVED_ENTRIES_MAX} files were moved`;
      return new Map();
    }
  }
  return found;
}
