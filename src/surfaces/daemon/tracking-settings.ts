import process from "node:process";

/**
 * Below it a dump that copies everything is as fast as making the descriptor, and the write faults
 * that come with it.
 */
const BYTES_MIN_DEFAULT = 8 * 1024 ** 2;
/** Below it the copy in the pause is shorter than a pause of its own. */
const AHEAD_BYTES_MIN = 128 * 1024 ** 2;

/**
 * Reads WAYPOINT_TRACK_MEMORY: `on`, which is the default, or the bytes of memory from which the writes of
 * processes are followed. Anything else: none is followed. WAYPOINT_TRACK_AHEAD=off has no memory copied before
 * the first pause of a large session.
 */
export function trackingFromEnvironment() {
  const wanted = process.env["WAYPOINT_TRACK_MEMORY"] || "on";
  const bytesMin = wanted === "on" ? BYTES_MIN_DEFAULT : Number(wanted);
  if (!Number.isSafeInteger(bytesMin) || bytesMin < 0) return {};
  const compares = process.env["WAYPOINT_COMPARE_MEMORY"] === "on";
  const aheadBytesMin = isAhead()
    ? Math.max(bytesMin, compares ? 0 : AHEAD_BYTES_MIN)
    : Number.POSITIVE_INFINITY;
  return { trackMemory: { bytesMin, aheadBytesMin, compares } };
}

function isAhead(): boolean {
  return (process.env["WAYPOINT_TRACK_AHEAD"] || "on") === "on";
}
