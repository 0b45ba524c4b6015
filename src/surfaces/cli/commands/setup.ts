import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { ERROR_REGISTRY } from "../../../shared/errors/index.ts";
import { findPackageRoot } from "../../client/index.ts";
import type { Invocation } from "../context.ts";

/**
 * Installs what this machine lacks, by the same script that `npm run setup` calls.
 *
 * The script prints its result and its failures itself, also as JSON.
 */
export async function run({ context, options }: Invocation<{ unit?: boolean }>): Promise<number> {
  const scriptPath = path.join(findPackageRoot(), "scripts", "bootstrap.mjs");
  const flags = [...(context.isJson ? ["--json"] : []), ...(options.unit ? ["--unit"] : [])];
  const child = spawn(process.execPath, [scriptPath, "setup", ...flags], {
    stdio: "inherit",
    env: { ...process.env, WAYPOINT_DIR: context.stateDir },
  });
  const [exitCode] = (await once(child, "close")) as [number | null];
  return exitCode ?? ERROR_REGISTRY.SETUP_FAILED.exitCode;
}
