import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { WaypointError } from "../errors/index.ts";
import { buildRestoreArguments } from "./build-arguments.ts";
import { type CriuProgram, type CriuRun, runCriu } from "./criu-program.ts";
import { readLog, timedOutExplanation } from "./dump.ts";
import { explainRestoreFailure } from "./explain-failure.ts";
import { keepLog } from "./keep-log.ts";
import { withoutLeftMountRoots } from "./left-mount-roots.ts";
import { excerptAroundErrors } from "./log-excerpt.ts";

const LOG_NAME = "restore.log";
const TIMEOUT_DEFAULT_MS = 300_000;

/** What to restore, and into what. */
export interface RestoreOptions {
  criu: CriuProgram;
  /** Fresh network namespace with lo up and the inner address, null for the daemon's own. */
  netnsPath: string | null;
  /** Mount point of the root filesystem that belongs to the images. */
  rootDir: string;
  /** Any number of restores may read the same images at the same time. */
  imagesDir: string;
  /** Directory of this restore alone, for the log and the statistics. */
  workDir: string;
  /** File to be made with the root's process id. @defaultValue `pid` in `workDir` */
  pidFile?: string;
  /** Leaves every task stopped until it gets SIGCONT. @defaultValue false */
  leaveStopped?: boolean;
  /** Takes the log of a failed restore. @defaultValue it stays in `workDir` */
  failedLogsDir?: string;
  /** @defaultValue 300 000 */
  timeoutMs?: number;
}

/** A restored tree. */
export interface RestoreResult {
  /** Its root, as the daemon sees it. */
  pid: number;
  durationMs: number;
}

/**
 * Brings a dumped process tree back.
 *
 * **Requires** `pidFile` does not exist, and `rootDir` has the files of the dump.
 * **On success** the tree runs, or stands where `leaveStopped` was asked for.
 * **On failure** nothing of the tree is left running.
 *
 * @throws CRIU_RESTORE_FAILED    `detail` has the resource and CRIU's words.
 * @throws CHECKPOINT_INCOMPLETE  an image is missing or damaged.
 * @throws STORE_FULL             a restored file found no space.
 */
export async function restore(options: RestoreOptions): Promise<RestoreResult> {
  const pidFile = options.pidFile ?? join(options.workDir, "pid");
  const run = await withoutLeftMountRoots(() =>
    runCriu({
      criu: options.criu,
      netnsPath: options.netnsPath,
      criuArguments: buildRestoreArguments({ ...options, pidFile, logName: LOG_NAME }),
      timeoutMs: options.timeoutMs ?? TIMEOUT_DEFAULT_MS,
    }),
  );
  if (run.exitCode !== 0 || run.timedOut) throw await toRestoreError(options, run);
  const pid = Number((await readFile(pidFile, "utf8")).trim());
  return { pid, durationMs: run.durationMs };
}

async function toRestoreError(options: RestoreOptions, run: CriuRun): Promise<WaypointError> {
  const log = await readLog(join(options.workDir, LOG_NAME), run);
  const logPath = await keepLog({ ...options, log, logName: LOG_NAME });
  const why = run.timedOut ? timedOutExplanation(run) : explainRestoreFailure(log);
  return new WaypointError(why.code, why.message, {
    hint: why.hint,
    detail: {
      reason: why.reason,
      resource: why.resource,
      criuErrors: excerptAroundErrors(log),
      logPath,
      exitCode: run.exitCode,
    },
  });
}
