import { OverlayTree, type TreeEntry } from "./files/overlay-tree.ts";
import { fromText, isAtOrBelow } from "./files/raw-path.ts";
import type { Moment } from "./moment.ts";

/** A file of a moment; its path on the host is good until it is disposed of. */
export interface MomentFile extends Disposable {
  entry: TreeEntry;
}

/**
 * Finds a regular file of a moment by a path without links in it; `null` where there is none, or
 * where it was not captured.
 */
export function findMomentFile(
  { origin, subvolumePath }: Pick<Moment, "origin" | "subvolumePath">,
  path: string,
): MomentFile | null {
  if (origin.binds.some(({ target }) => isAtOrBelow(path, target))) return null;
  let layer = { mountPath: "", prefix: "upper", baseDir: origin.base };
  for (const [number, mountPath] of origin.hostMounts.entries()) {
    if (!isAtOrBelow(path, mountPath) || mountPath.length < layer.mountPath.length) continue;
    layer = { mountPath, prefix: `mounts/${number}/upper`, baseDir: mountPath };
  }
  const tree = new OverlayTree(`${subvolumePath}/${layer.prefix}`, layer.baseDir);
  const entry = tree.find(fromText(path.slice(layer.mountPath.length)));
  if (entry?.type === "file") return { entry, [Symbol.dispose]: () => tree[Symbol.dispose]() };
  tree[Symbol.dispose]();
  return null;
}
