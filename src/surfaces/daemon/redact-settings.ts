import { WaypointError } from "../../shared/errors/index.ts";
import { KNOWN_TOKENS } from "../../shared/secrets/index.ts";

/**
 * Returns the forms of secrets that are taken out of what agents hand over, from the daemon's
 * environment: WAYPOINT_REDACT is a regular expression beside the known forms, or `off`.
 *
 * @throws USAGE_INVALID  it is no regular expression.
 */
export function redactFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): readonly RegExp[] {
  const own = environment["WAYPOINT_REDACT"] ?? "";
  if (own === "off") return [];
  if (own === "") return KNOWN_TOKENS;
  try {
    return [...KNOWN_TOKENS, new RegExp(own, "g")];
  } catch (cause) {
    throw new WaypointError("USAGE_INVALID", "WAYPOINT_REDACT is not a regular expression.", {
      hint: `Correct it or unset it: ${(cause as Error).message}.`,
      cause,
    });
  }
}
