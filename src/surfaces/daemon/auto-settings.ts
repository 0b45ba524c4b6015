import { WaypointError } from "../../shared/errors/index.ts";
import { AUTO_POLICY_WORDS, parseAutoPolicy } from "../../shared/protocol/index.ts";

/**
 * Returns when sessions are captured by themselves that say nothing else, from the daemon's
 * environment: WAYPOINT_AUTO. Nobody gets checkpoints by surprise.
 *
 * @throws USAGE_INVALID
 */
export function autoFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const policy = parseAutoPolicy(environment["WAYPOINT_AUTO"] ?? "manual");
  if (policy !== null) return policy.text;
  throw new WaypointError("USAGE_INVALID", "WAYPOINT_AUTO is not a policy.", {
    hint: `Give ${AUTO_POLICY_WORDS}.`,
  });
}
