import path from "node:path";
import { STATE_DIR_DEFAULT } from "../base/index.ts";

/**
 * Returns the absolute state directory that a client means: the one `given`, else the one that
 * WAYPOINT_DIR names, else the machine's default.
 */
export function resolveStateDir(given?: string): string {
  const named = given ?? process.env["WAYPOINT_DIR"];
  return path.resolve(named === undefined || named === "" ? STATE_DIR_DEFAULT : named);
}
