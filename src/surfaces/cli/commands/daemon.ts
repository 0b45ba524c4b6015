import { existsSync } from "node:fs";
import path from "node:path";
import { WaypointError } from "../../../shared/errors/index.ts";
import { findPackageRoot, makeStateDir } from "../../client/index.ts";
import type { Invocation } from "../context.ts";

/**
 * Becomes the daemon, in the foreground.
 *
 * Replaces this process, so that a service manager watches the daemon itself.
 */
export async function run({
  context,
  options,
}: Invocation<{ imagesMemory?: number }>): Promise<undefined> {
  const programPath = path.join(findPackageRoot(), "dist", "daemon.mjs");
  if (!existsSync(programPath)) {
    throw new WaypointError("SETUP_INCOMPLETE", `The daemon's program ${programPath} is missing.`, {
      hint: "Run `npm run build` in the package, or install Waypoint again.",
      detail: { programPath },
    });
  }
  if (process.geteuid?.() === 0) makeStateDir(context.stateDir);
  const { imagesMemory } = options;
  const env = {
    ...process.env,
    ...(imagesMemory === undefined ? {} : { WAYPOINT_IMAGES_BYTES: String(imagesMemory) }),
    WAYPOINT_DIR: context.stateDir,
    WAYPOINT_FOREGROUND: "1",
  };
  if (process.execve === undefined) {
    throw new WaypointError("HOST_UNSUPPORTED", "This version of Node cannot replace a process.", {
      hint: "Use Node 24.",
    });
  }
  process.execve(process.execPath, [process.execPath, programPath], env);
}
