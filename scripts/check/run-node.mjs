import { spawn } from "node:child_process";
import process from "node:process";

const OUTPUT_KEPT_CHARS_MAX = 400_000;

/** Ended with this process: a test that lives on would keep its mounts and namespaces. */
const running = new Set();
process.on("exit", () => {
  for (const child of running) child.kill("SIGTERM");
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(130));

/**
 * Runs a program on this Node until its end, and keeps the end of what it prints. Never rejects.
 *
 * @param {string[]} argv program and arguments
 * @param {{ cwd: string, timeoutMs: number, env?: Record<string, string> }} options
 * @returns {Promise<{ isOk: boolean, output: string, durationMs: number }>}
 */
export function runNode(argv, { cwd, timeoutMs, env = {} }) {
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, argv, {
    ...{ cwd, stdio: ["ignore", "pipe", "pipe"], timeout: timeoutMs },
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0", ...env },
  });
  running.add(child);
  let output = "";
  const keep = (chunk) => {
    output = (output + chunk).slice(-OUTPUT_KEPT_CHARS_MAX);
  };
  child.stdout.setEncoding("utf8").on("data", keep);
  child.stderr.setEncoding("utf8").on("data", keep);
  return new Promise((resolve) => {
    const settle = (isOk, note = "") => {
      running.delete(child);
      resolve({ isOk, output: output + note, durationMs: performance.now() - startedAtMs });
    };
    child.once("error", (error) => settle(false, `${error.message}\n`));
    child.once("close", (exitCode, signal) =>
      settle(
        exitCode === 0,
        signal === null ? "" : `Ended by ${signal} (limit ${timeoutMs} ms).\n`,
      ),
    );
  });
}
