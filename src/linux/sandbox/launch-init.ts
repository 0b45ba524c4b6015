import { runProcess } from "../../base/index.ts";
import { hasCode, WaypointError } from "../../shared/errors/index.ts";

const LAUNCH_TIMEOUT_MS = 15_000;

/**
 * Starts PID 1 of a new session in namespaces of its own and returns its process id on the host.
 *
 * **On failure** nothing of it is left running.
 *
 * @throws SANDBOX_FAILED  a step was refused; `detail.reason` names it.
 */
export async function launchInit(options: {
  initBinaryPath: string;
  mergedDir: string;
  netnsPath: string | null;
  hostname: string;
  /** Files that take init into its control groups, before it starts anything. */
  cgroupFiles: readonly string[];
}): Promise<number> {
  const { initBinaryPath, mergedDir, netnsPath, hostname, cgroupFiles } = options;
  const cgroups = cgroupFiles.flatMap((file) => ["--cgroup", file]);
  const argv = [
    "launch",
    "--root",
    mergedDir,
    "--netns",
    netnsPath ?? "-",
    "--hostname",
    hostname,
    ...cgroups,
  ];
  try {
    const { stdout } = await runProcess([initBinaryPath, ...argv], {
      timeoutMs: LAUNCH_TIMEOUT_MS,
    });
    return Number(stdout.trim());
  } catch (cause) {
    if (hasCode(cause, "PROCESSES_FULL")) throw cause;
    const reason = cause instanceof WaypointError ? String(cause.detail["stderr"]).trim() : "";
    throw new WaypointError("SANDBOX_FAILED", "The session's first process could not be started.", {
      hint: `The step that failed: ${reason || String(cause)}. \`waypoint doctor\` checks the machine.`,
      detail: { reason },
      cause,
    });
  }
}
