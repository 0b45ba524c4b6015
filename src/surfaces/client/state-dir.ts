import path from "node:path";
import { STATE_DIR_DEFAULT } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";

/**
 * Returns the absolute state directory that a client means: the one `given`, else the one that
 * WAYPOINT_DIR names, else the machine's default.
 *
 * An empty WAYPOINT_DIR counts as none, as is usual for variables. An empty `given` is refused: it
 * is a script's variable that was never set, and must not lead to the machine's own sessions.
 *
 * @throws USAGE_INVALID  `given` names no directory.
 */
export function resolveStateDir(given?: string): string {
  if (given !== undefined && !isPath(given)) {
    throw new WaypointError("USAGE_INVALID", "The state directory that was given has no name.", {
      hint: "Name a directory, or leave it out for WAYPOINT_DIR or the default.",
    });
  }
  const named = given ?? process.env["WAYPOINT_DIR"];
  return path.resolve(named === undefined || named === "" ? STATE_DIR_DEFAULT : named);
}

/** Programs without types may give anything. */
function isPath(given: unknown): boolean {
  return typeof given === "string" && given !== "" && !given.includes("\0");
}
