import { isSystemError } from "../../base/index.ts";
import { hasCode, WaypointError } from "../../shared/errors/index.ts";

/**
 * Returns what a failure means to a user.
 *
 * @param outcome  what became of all the rest, as the end of a sentence: "all was put back".
 */
export function explainFailure(error: unknown, outcome: string): unknown {
  if (hasCode(error, "CANCELLED")) {
    return new WaypointError("CANCELLED", `The operation was cancelled; ${outcome}.`);
  }
  if (error instanceof WaypointError || !(error instanceof Error) || !("code" in error)) {
    return error;
  }
  const detail = { reason: error.message };
  if (isSystemError(error, "ENOSPC", "EDQUOT")) {
    return new WaypointError("STORE_FULL", `There is no room left for the new files; ${outcome}.`, {
      hint: "Free space where the files go, and in the store, which keeps the old ones for undo.",
      ...{ detail, cause: error },
    });
  }
  const what = isSystemError(error, "EROFS")
    ? "The files go to a filesystem that is read-only"
    : "The kernel refused to write";
  return new WaypointError("FILE_FAILED", `${what}; ${outcome}.`, {
    hint: "The detail has the kernel's reason. Network and FAT filesystems cannot exchange two files.",
    ...{ detail, cause: error },
  });
}
