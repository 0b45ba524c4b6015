import { statSync, truncateSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns the file for what CRIU's preload copies itself in a pause (native/criu-preload/memory-taken-preload.c).
 *
 * It stays between the dumps of an instance, in memory: what is written into it then waits for nothing.
 */
export function takenPagesPath(workDir: string): string {
  return join(workDir, "taken-pages");
}

/** Returns how much memory that file has, at most 16 MiB; 0 where there is none. */
export function takenPagesBytes(workDir: string): number {
  return statSync(takenPagesPath(workDir), { throwIfNoEntry: false })?.size ?? 0;
}

/** Leaves the file at most so much. Never fails. **Requires** no dump of the instance runs. */
export function trimTakenPages(workDir: string, bytes: number): void {
  try {
    if (takenPagesBytes(workDir) > bytes) truncateSync(takenPagesPath(workDir), bytes);
  } catch {
    // The instance has ended meanwhile, and its directory with it.
  }
}
