import { runTool } from "./run-tool.mjs";

/**
 * Returns the version that `argv --version` prints, or null where it does not run.
 * @param {readonly string[]} argv
 */
export async function readCriuVersion(argv) {
  try {
    const output = await runTool([...argv, "--version"], { timeoutMs: 10_000 });
    return /^Version:\s*([0-9.]+)/m.exec(output)?.[1] ?? null;
  } catch {
    return null;
  }
}
