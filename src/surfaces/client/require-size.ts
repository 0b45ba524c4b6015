import { WaypointError } from "../../shared/errors/index.ts";

/** What one call hands over: a message to the daemon has room for no more. */
const CALL_BYTES_MAX = 15 * 1024 * 1024;

/** Checks what a call hands over of an agent's state. @throws STATE_TOO_LARGE | USAGE_INVALID */
export function requireSize(input: object): void {
  const bytes = sizeOf(input);
  if (bytes <= CALL_BYTES_MAX) return;
  const much = Number.isFinite(bytes) ? `${(bytes / 1024 ** 2).toFixed(1)} MiB are` : "That is";
  throw new WaypointError("STATE_TOO_LARGE", `${much} more than one call takes.`, {
    hint: `Append a list in parts of at most ${CALL_BYTES_MAX / 1024 ** 2} MiB, or keep files.`,
  });
}

function sizeOf(input: object): number {
  try {
    return Buffer.byteLength(JSON.stringify(input));
  } catch (cause) {
    // Node has no text that is so long.
    if (cause instanceof RangeError && /string length/i.test(cause.message)) {
      return Number.POSITIVE_INFINITY;
    }
    throw new WaypointError("USAGE_INVALID", "A value cannot be kept as JSON.", { cause });
  }
}
