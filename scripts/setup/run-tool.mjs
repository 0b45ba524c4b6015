import { spawn } from "node:child_process";
import { SetupError } from "./setup-error.mjs";

/** Characters kept of a tool's output, for the message when it fails. */
const OUTPUT_KEPT_CHARS_MAX = 3000;
const TIMEOUT_MS = 20 * 60_000;

/**
 * Runs a program to its end and returns the end of what it printed.
 *
 * `heldFd` is passed on to the program, so that the set-up's lock stays taken while a program of
 * a killed set-up is still at work.
 *
 * @param {readonly string[]} argv
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, signal?: AbortSignal, heldFd?: number,
 *   timeoutMs?: number, hint?: string }} [options]
 * @returns {Promise<string>}
 * @throws SETUP_FAILED  it could not be started, was ended by a signal, or failed.
 */
export async function runTool(argv, options = {}) {
  const { cwd, env = process.env, signal, heldFd, hint, timeoutMs = TIMEOUT_MS } = options;
  const stdio = ["ignore", "pipe", "pipe"];
  if (heldFd !== undefined) stdio.push(heldFd);
  const child = spawn(argv[0], argv.slice(1), {
    cwd,
    env,
    signal,
    stdio,
    timeout: timeoutMs,
    killSignal: "SIGTERM",
  });
  let output = "";
  const keep = (chunk) => {
    output = (output + chunk).slice(-OUTPUT_KEPT_CHARS_MAX);
  };
  child.stdout.setEncoding("utf8").on("data", keep);
  child.stderr.setEncoding("utf8").on("data", keep);
  const failure = await new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, how) => resolve(code === 0 ? null : (how ?? `exit code ${code}`)));
  });
  if (failure === null) return output;
  throw new SetupError("SETUP_FAILED", `\`${shortName(argv)}\` failed (${failure}).`, {
    output: output.trim(),
    ...(hint === undefined ? {} : { hint }),
  });
}

function shortName(argv) {
  const words = argv.filter((word) => !word.startsWith("-") && !word.includes("/"));
  const program = argv[0].split("/").at(-1);
  return [program, ...words.filter((word) => word !== argv[0])].slice(0, 3).join(" ");
}
