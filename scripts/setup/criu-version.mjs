import { runTool } from "./run-tool.mjs";

/**
 * Returns the version that `argv --version` prints, or null where it does not run.
 * @param {readonly string[]} argv
 */
export async function readCriuVersion(argv) {
  try {
    const output = await runTool([...argv, "--version"], { isContained: false, timeoutMs: 10_000 });
    return /^Version:\s*([0-9.]+)/m.exec(output)?.[1] ?? null;
  } catch {
    return null;
  }
}

/**
 * Runs `criu check`, which asks the kernel for everything that CRIU needs.
 * @param {readonly string[]} argv
 * @throws SETUP_FAILED  this CRIU does not work with this kernel.
 */
export async function requireCriuCheck(argv) {
  await runTool([...argv, "check"], { isContained: false, timeoutMs: 60_000 });
}
