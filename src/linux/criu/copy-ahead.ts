import { join } from "node:path";
import { runProcess } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { type DumpOptions, readLog, runDump } from "./dump.ts";
import { excerptAroundErrors } from "./log-excerpt.ts";
import { findFollowed, noteWhole } from "./memory-tracker.ts";
import { readDumpStatistics } from "./read-dump-statistics.ts";
import type { FollowedDump } from "./written-memory.ts";

const TIMEOUT_MS = 600_000;
const LOG_NAME = "protect.log";

/** What is protected and copied before a dump; `imagesDir` takes images that are no use. */
export type AheadOptions = Omit<DumpOptions, "tracked" | "snapshotSource" | "snapshotTarget"> & {
  /** `checkpointId` names the copy: what is clean from then on is so since it. */
  tracked: Omit<FollowedDump, "reference" | "compares">;
};

/**
 * Has the memory of a tree protected, in a short pause in which nothing of it is copied.
 *
 * **Requires** no connection from outside into the tree is open.
 * **On failure** the tree runs as before, and nothing is clean.
 *
 * @throws TOOL_FAILED
 */
export async function protectAhead(options: AheadOptions): Promise<{ pauseMs: number }> {
  const { tracked, workDir } = options;
  const run = await runDump(
    { ...options, logName: LOG_NAME, tracked: { ...tracked, reference: null } },
    { WAYPOINT_PROTECT_ALONE: "1" },
  );
  if (run.exitCode !== 0 || run.timedOut) {
    const log = await readLog(join(workDir, LOG_NAME), run);
    throw new WaypointError("TOOL_FAILED", "Memory could not be protected.", {
      hint: excerptAroundErrors(log).join("\n"),
    });
  }
  await noteWhole(tracked.socketPath, tracked.checkpointId);
  return { pauseMs: (await readDumpStatistics(workDir)).pauseMs };
}

/**
 * Copies what {@link protectAhead} has protected into an empty directory, while the programs run on.
 *
 * @throws TOOL_FAILED  also where there is no room.
 */
export async function copyAhead(
  { tracked: { socketPath, assembleProgramPath } }: Pick<AheadOptions, "tracked">,
  targetDir: string,
): Promise<{ copiedBytes: number }> {
  const pids = (await findFollowed(socketPath)).map(String);
  if (pids.length === 0) return { copiedBytes: 0 };
  const argv = [assembleProgramPath, "ahead", targetDir] as const;
  const { stdout } = await runProcess([...argv, ...pids], { timeoutMs: TIMEOUT_MS });
  return JSON.parse(stdout) as { copiedBytes: number };
}
