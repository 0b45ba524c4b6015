import { spawn } from "node:child_process";
import { SetupError } from "./setup-error.mjs";

/** Characters kept of the beginning and of the end of a tool's output, for when it fails. */
const OUTPUT_KEPT_CHARS_MAX = 2000;
const TIMEOUT_MS = 20 * 60_000;

/**
 * Runs a program to its end and returns what it printed, shortened in the middle.
 *
 * The program and all its children end with us, even when we are killed, unless `isContained` is
 * false: because ending them in the middle would do harm, or because they look at /proc.
 *
 * @param {readonly string[]} argv
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, signal?: AbortSignal, isContained?: boolean, timeoutMs?: number, hint?: string }} [options]
 * @returns {Promise<string>}
 * @throws SETUP_FAILED  it could not be started, was ended by a signal, or failed.
 */
export async function runTool(argv, options = {}) {
  const { cwd, env = process.env, signal, hint, timeoutMs = TIMEOUT_MS } = options;
  const [program, ...args] = options.isContained === false ? argv : endingWithUs(argv);
  const child = spawn(program, args, {
    cwd,
    env,
    signal,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  });
  let head = "";
  let tail = "";
  const keep = (chunk) => {
    const room = OUTPUT_KEPT_CHARS_MAX - head.length;
    head += chunk.slice(0, room);
    tail = (tail + chunk.slice(room)).slice(-OUTPUT_KEPT_CHARS_MAX);
  };
  child.stdout.setEncoding("utf8").on("data", keep);
  child.stderr.setEncoding("utf8").on("data", keep);
  const failure = await new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, how) => resolve(code === 0 ? null : (how ?? `exit code ${code}`)));
  });
  const output = head + tail;
  if (failure === null) return output;
  throw new SetupError("SETUP_FAILED", `\`${shortName(argv)}\` failed (${failure}).`, {
    output: output.trim(),
    ...(hint === undefined ? {} : { hint }),
  });
}

/**
 * Wraps `argv` in a process id namespace whose end ends everything in it.
 *
 * The methods with which apt downloads would otherwise live on for minutes after apt was killed.
 */
function endingWithUs(argv) {
  return ["setpriv", "--pdeathsig=KILL", "unshare", "--pid", "--fork", "--kill-child", ...argv];
}

function shortName(argv) {
  const words = argv.filter((word) => /^[\w.-]+$/.test(word) && !word.startsWith("-"));
  const program = argv[0].split("/").at(-1);
  return [program, ...words.filter((word) => word !== argv[0])].slice(0, 3).join(" ");
}
