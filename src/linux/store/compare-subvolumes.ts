import { WaypointError } from "../../shared/errors/index.ts";
import { combineDifferences } from "./combine-differences.ts";
import { type SubvolumeChanges, sendDifference } from "./send-difference.ts";

/** Two read-only subvolumes to be compared. */
export interface SubvolumePair {
  fromPath: string;
  toPath: string;
  /** A snapshot that both descend from, one of them itself perhaps; `null`: they share nothing. */
  ancestorPath: string | null;
}

/**
 * Finds where two read-only subvolumes differ, in time proportional to what has changed in each
 * since their common ancestor.
 *
 * Each is compared with the ancestor, not with the other: two branches give their new files the
 * same inode numbers, and the kernel takes these for one file.
 *
 * @throws STORE_FAILED  the kernel could not compare them, for instance a path of over 4 KiB.
 */
export async function compareSubvolumes(
  { fromPath, toPath, ancestorPath }: SubvolumePair,
  signal: AbortSignal,
): Promise<SubvolumeChanges> {
  try {
    if (ancestorPath === fromPath || ancestorPath === toPath) {
      return await sendDifference(fromPath, toPath, signal);
    }
    const ours = await sendDifference(ancestorPath, fromPath, signal);
    return combineDifferences(ours, await sendDifference(ancestorPath, toPath, signal));
  } catch (cause) {
    signal.throwIfAborted();
    throw new WaypointError("STORE_FAILED", "Two snapshots could not be compared.", {
      detail: { reason: String(cause) },
      cause,
    });
  }
}
