import { isSystemError } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";

/** Returns what a failed call on a file means to a user. @param what  "read /etc/hosts". */
export function fileFailure(error: unknown, what: string): unknown {
  if (error instanceof WaypointError || !(error instanceof Error) || !("code" in error)) {
    return error;
  }
  const reason = error.message;
  if (isSystemError(error, "ENOSPC", "EDQUOT")) {
    return new WaypointError("STORE_FULL", `There is no room left to ${what}.`, {
      hint: "What was copied before is whole; free space, then copy again.",
      detail: { reason },
      cause: error,
    });
  }
  return new WaypointError("FILE_FAILED", `The kernel refused to ${what}.`, {
    hint: "A file that was being replaced is as it was; what was copied before is whole.",
    detail: { reason },
    cause: error,
  });
}
