import { isAtOrBelow, joinRaw, type RawPath } from "../../base/index.ts";
import type { MomentFiles, RawChange } from "../moment/index.ts";

/** A change of one path by itself: what was moved is gone here and new there. */
export type PathChange = Pick<RawChange, "path" | "before" | "after" | "change">;

/**
 * Returns changes path by path, only those at or below one of `under`: renamed directories as all
 * that was in them, deleted and added.
 */
export function splitChanges(
  changes: readonly RawChange[],
  files: { from: MomentFiles; to: MomentFiles },
  under: readonly RawPath[],
): PathChange[] {
  const byPath = new Map<RawPath, PathChange>();
  const put = (change: PathChange) => {
    if (!under.some((directory) => isAtOrBelow(change.path, directory))) return;
    const known = byPath.get(change.path);
    // A path that was deleted and is something else now is one change.
    const before = change.before ?? known?.before ?? null;
    const after = change.after ?? known?.after ?? null;
    byPath.set(change.path, { ...change, before, after });
  };
  for (const change of changes) {
    if (change.change !== "renamed" || change.from === null) {
      put(change);
      continue;
    }
    for (const path of withAllBelow(files.from, change.from)) {
      put({ path, change: "renamed", before: files.from.find(path), after: files.to.find(path) });
    }
    for (const path of withAllBelow(files.to, change.path)) {
      put({ path, change: "renamed", before: files.from.find(path), after: files.to.find(path) });
    }
  }
  return [...byPath.values()];
}

function* withAllBelow(files: MomentFiles, rawPath: RawPath): Generator<RawPath> {
  const entry = files.find(rawPath);
  if (entry === null) return;
  yield rawPath;
  if (entry.directory === null) return;
  for (const name of files.names(rawPath)) yield* withAllBelow(files, joinRaw(rawPath, name));
}
