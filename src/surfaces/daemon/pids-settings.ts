import { WaypointError } from "../../shared/errors/index.ts";
import { PIDS_MAX, PIDS_MIN } from "../../shared/protocol/index.ts";

/**
 * Returns how many processes a session may have that says nothing else, from the daemon's
 * environment: WAYPOINT_PIDS, a number or `unlimited` (`null`).
 *
 * @throws USAGE_INVALID
 */
export function pidsFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  otherwise: number,
): number | null {
  const text = environment["WAYPOINT_PIDS"];
  if (text === undefined) return otherwise;
  if (text === "unlimited") return null;
  const pids = Number(text);
  if (/^[1-9]\d*$/.test(text) && pids >= PIDS_MIN && pids <= PIDS_MAX) return pids;
  throw new WaypointError("USAGE_INVALID", "WAYPOINT_PIDS is not a number of processes.", {
    hint: `Give a whole number from ${PIDS_MIN} to ${PIDS_MAX}, or unlimited.`,
  });
}
