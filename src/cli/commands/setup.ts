import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { findPackageRoot } from "../../client/index.ts";
import { WaypointError } from "../../errors/index.ts";
import type { Invocation } from "../context.ts";

/** Installs what this machine lacks, by the same script that `npm run setup` calls. */
export async function run({ context }: Invocation): Promise<undefined> {
  const scriptPath = path.join(findPackageRoot(), "scripts", "bootstrap.mjs");
  const child = spawn(process.execPath, [scriptPath, "setup"], {
    // For a program, the result is the one line on stdout; the script's words go to stderr.
    stdio: ["inherit", context.isJson ? process.stderr : "inherit", "inherit"],
    env: { ...process.env, WAYPOINT_DIR: context.stateDir },
  });
  const [exitCode] = (await once(child, "close")) as [number | null];
  if (exitCode !== 0) {
    throw new WaypointError("SETUP_FAILED", `Setting up failed (exit code ${exitCode}).`, {
      hint: "The lines above say what is missing; `waypoint doctor` lists it again.",
      detail: { exitCode },
    });
  }
  if (context.isJson) await context.output.json({ ok: true });
}
