import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import path from "node:path";
import { SetupError } from "./setup-error.mjs";
import { nodeProgram } from "./step-node.mjs";

/**
 * Runs one of the project's programs with its Node, on this terminal, and returns its exit code.
 *
 * Signals sent to us alone are passed on; one from the terminal has reached the program already.
 */
export async function runProgram(context, relativePath, args) {
  const file = path.join(context.packageRoot, relativePath);
  if (!existsSync(file)) {
    throw new SetupError("SETUP_FAILED", `${relativePath} is not in this copy of Waypoint.`, {
      hint: "Use a checkout of the repository; the published package leaves it out.",
    });
  }
  const child = spawn(nodeProgram(context), [file, ...args], {
    cwd: context.packageRoot,
    stdio: "inherit",
  });
  const passOn = (signal) => child.kill(signal);
  const stayAlive = () => {};
  process.on("SIGTERM", passOn).on("SIGHUP", passOn).on("SIGINT", stayAlive);
  return await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}
