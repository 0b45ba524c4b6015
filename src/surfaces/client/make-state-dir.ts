import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import { isSystemError } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";

/**
 * Makes a state directory and the directories above it, or leaves them as they are.
 *
 * One by one, because Node's recursive mkdir never returns where the kernel refuses new
 * directories with ENOENT, as in /proc.
 *
 * @throws USAGE_INVALID  it cannot be made there.
 */
export function makeStateDir(stateDir: string): void {
  try {
    for (const directory of missingDirectories(stateDir)) makeDirectory(directory);
  } catch (cause) {
    throw notStateDir(stateDir, cause);
  }
}

/** Returns the error for a directory in which Waypoint cannot keep its state. */
export function notStateDir(stateDir: string, cause: unknown): WaypointError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  if (isSystemError(cause, "EROFS") && existsSync(stateDir)) {
    return new WaypointError("STORE_FAILED", `${stateDir} is on a filesystem that is read-only.`, {
      hint: "Sessions that run go on. Make it writable again; `dmesg` says why it is not.",
      detail: { stateDir, reason },
      cause,
    });
  }
  return new WaypointError("USAGE_INVALID", `${stateDir} cannot be a state directory.`, {
    hint: "Choose another one with --dir or WAYPOINT_DIR.",
    detail: { stateDir, reason },
    cause,
  });
}

/** Returns what of a path is not there, outermost first. */
function missingDirectories(directory: string): string[] {
  const missing: string[] = [];
  let current = directory;
  while (!existsSync(current) && path.dirname(current) !== current) {
    missing.unshift(current);
    current = path.dirname(current);
  }
  return missing;
}

function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    // Another client was quicker.
    if (!isSystemError(error, "EEXIST")) throw error;
  }
}
