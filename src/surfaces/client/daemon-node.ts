import { existsSync, realpathSync } from "node:fs";
import path from "node:path";
import { WaypointError } from "../../shared/errors/index.ts";
import { findPackageRoot } from "./package-root.ts";

/** Oldest Node on which the daemon runs. */
const NODE_MAJOR_MIN = 24;

/**
 * Returns the Node that runs the daemon: WAYPOINT_NODE, the one that the set-up has brought, or this
 * program's own. The program may be of an older Node than the daemon needs.
 *
 * @throws SETUP_INCOMPLETE  none of them is there and new enough.
 */
export function daemonNode(
  packageRoot: string = findPackageRoot(),
  { execPath, version }: { execPath: string; version: string } = process,
): string {
  const chosen = process.env["WAYPOINT_NODE"];
  if (chosen !== undefined && chosen !== "") return chosen;
  const own = path.join(packageRoot, ".tools/node/bin/node");
  // Where both are the same file, its own name keeps NODE_OPTIONS, which are meant for it.
  if (existsSync(own)) return isSame(own, execPath) ? execPath : own;
  if (Number.parseInt(version.slice(1), 10) >= NODE_MAJOR_MIN) return execPath;
  const message = `The daemon needs Node ${NODE_MAJOR_MIN}; this program runs on ${version}.`;
  throw new WaypointError("SETUP_INCOMPLETE", message, {
    hint: "`waypoint setup` brings one for the daemon; the program keeps its own.",
    detail: { version, looked: own },
  });
}

function isSame(one: string, other: string): boolean {
  return realpathSync(one) === realpathSync(other);
}
