import { hasCode, WaypointError } from "../../shared/errors/index.ts";

/**
 * Returns the error of a call that its caller has given up: CANCELLED, with an `AbortError` as its
 * cause, as other calls of Node throw it; a reason of the caller's own is the cause of that.
 */
export function cancelled(operation: string, signal: AbortSignal): WaypointError {
  return new WaypointError("CANCELLED", `The operation ${operation} was cancelled.`, {
    detail: { operation },
    cause: abortError(signal.reason),
  });
}

/** Gives the daemon's CANCELLED the cause that only the caller knows. */
export function withAbortCause(
  error: WaypointError,
  signal: AbortSignal | undefined,
): WaypointError {
  if (signal?.aborted !== true || !hasCode(error, "CANCELLED")) return error;
  return new WaypointError(error.code, error.message, {
    ...(error.hint === null ? {} : { hint: error.hint }),
    detail: error.detail,
    cause: abortError(signal.reason),
  });
}

function abortError(reason: unknown): Error {
  if (reason instanceof Error && reason.name === "AbortError") return reason;
  return Object.assign(new Error("The operation was aborted", { cause: reason }), {
    name: "AbortError",
  });
}
