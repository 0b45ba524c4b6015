import type { StandbySettings } from "../../engine/ports/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { standbyPolicySchema } from "../../shared/protocol/index.ts";

const POLICY_DEFAULT = "head";
/** Standbys double the memory of small sessions; large ones do without. */
const BUDGET_SHARE = 1 / 8;
const RESERVE_SHARE = 1 / 10;

/**
 * Returns what to keep on standby, from the daemon's environment: WAYPOINT_STANDBY (off, head or a
 * number), WAYPOINT_STANDBY_BYTES and WAYPOINT_STANDBY_RESERVE_BYTES.
 *
 * @throws USAGE_INVALID
 */
export function standbyFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  totalBytes: number,
): StandbySettings {
  const policy = standbyPolicySchema.safeParse(environment["WAYPOINT_STANDBY"] ?? POLICY_DEFAULT);
  if (!policy.success) {
    throw new WaypointError("USAGE_INVALID", "WAYPOINT_STANDBY is not a policy.", {
      hint: "Give off, head, or a number of checkpoints from 1 to 16.",
    });
  }
  const bytes = (name: string, otherwise: number) => readBytes(environment, name) ?? otherwise;
  return {
    policy: policy.data,
    budgetBytes: bytes("WAYPOINT_STANDBY_BYTES", Math.floor(totalBytes * BUDGET_SHARE)),
    reserveBytes: bytes("WAYPOINT_STANDBY_RESERVE_BYTES", Math.floor(totalBytes * RESERVE_SHARE)),
  };
}

function readBytes(
  environment: Readonly<Record<string, string | undefined>>,
  name: string,
): number | null {
  const text = environment[name];
  if (text === undefined) return null;
  const bytes = Number(text);
  if (text.trim() !== "" && Number.isSafeInteger(bytes) && bytes >= 0) return bytes;
  throw new WaypointError("USAGE_INVALID", `${name} is not a number of bytes.`, {
    hint: "Give a whole number, or leave the variable out.",
  });
}
