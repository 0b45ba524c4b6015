import { spawn } from "node:child_process";
import path from "node:path";
import { WaypointError } from "../errors/index.ts";

/** How to run the set-up. */
export interface RunSetupOptions {
  /** The directory that holds Waypoint's package.json and .tools. */
  packageRoot: string;
  /** Ids of the steps to look at. @defaultValue all */
  steps?: readonly string[];
  signal?: AbortSignal;
}

/**
 * Runs the set-up of this copy of Waypoint, with its progress on standard error.
 *
 * Idempotent. It runs as a program of its own, the same that `npm start` uses in a fresh checkout.
 *
 * @returns its exit code; a failure has been told to the user already.
 * @throws SETUP_FAILED  the set-up's program could not be started.
 */
export function runSetup(options: RunSetupOptions): Promise<number> {
  const bootstrap = path.join(options.packageRoot, "scripts/bootstrap.mjs");
  const child = spawn(process.execPath, [bootstrap, "setup", ...(options.steps ?? [])], {
    stdio: ["ignore", "inherit", "inherit"],
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  return new Promise((resolve, reject) => {
    child.once("error", (cause) => {
      reject(new WaypointError("SETUP_FAILED", "The set-up could not be started.", { cause }));
    });
    child.once("exit", (exitCode) => resolve(exitCode ?? 130));
  });
}
