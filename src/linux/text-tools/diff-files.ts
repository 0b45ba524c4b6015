import { runProcess } from "../../base/index.ts";
import { toolEnvironment } from "./environment.ts";

const DIFF_TIMEOUT_MS = 10_000;

/**
 * Returns how two open texts differ, as a unified diff of whole lines; empty where they do not.
 *
 * diff(1) compares; it is handed open files, so names that are no text do not matter.
 *
 * @param labels  what the two are called.
 * @throws TOOL_FAILED  this machine has no diff(1).
 */
export async function diffFiles(
  fds: readonly [number, number],
  labels: readonly [string, string],
  signal: AbortSignal,
): Promise<string> {
  const argv = ["diff", "-u", "-a", "--label", labels[0], "--label", labels[1]] as const;
  const { stdout } = await runProcess([...argv, "/proc/self/fd/3", "/proc/self/fd/4"], {
    ...{ descriptors: fds, okExitCodes: [0, 1], timeoutMs: DIFF_TIMEOUT_MS, signal },
    env: toolEnvironment(),
  });
  return stdout;
}
