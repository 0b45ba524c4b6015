import { readdir, readFile, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { WaypointError } from "../../shared/errors/index.ts";
import { buildDumpArguments, type ExternalMount } from "./build-arguments.ts";
import { type CriuProgram, type CriuRun, runCriu, timeoutFor } from "./criu-program.ts";
import { explainDumpFailure, type FailureExplanation } from "./explain-failure.ts";
import { explainRun } from "./explain-unfinished.ts";
import { findUnrestorable, toUnrestorableError, type Unrestorable } from "./find-unrestorable.ts";
import { keepLog } from "./keep-log.ts";
import { excerptAroundErrors } from "./log-excerpt.ts";
import { giveTerminalsBack } from "./lost-foreground.ts";
import { beginSocketNotes, type NamesOf, placeMovedSockets } from "./moved-sockets.ts";
import { hasQueuedData } from "./queued-data.ts";
import { readDumpStatistics } from "./read-dump-statistics.ts";
import { readFailureFacts } from "./read-process-facts.ts";
import { placeSenders } from "./rights-in-flight.ts";
import { isTreeKilled } from "./running-criu.ts";
import { endStaleProcesses } from "./stale-processes.ts";
import { beginTracked, completeTracked, type TrackedDump } from "./written-memory.ts";

const LOG_NAME = "dump.log";
const RETRIES_MAX = 2;
const RETRY_GAP_MS = 15;
const LOG_READ_BYTES_MAX = 1024 * 1024;

/** What to dump, and where to. */
export interface DumpOptions {
  criu: CriuProgram;
  /** Network namespace of the tree, null if it is the daemon's own. */
  netnsPath: string | null;
  /** Root of the tree, as the daemon sees it. */
  pid: number;
  rootDir: string;
  /** Mounts of the tree whose content is not CRIU's matter. @defaultValue none */
  externalMounts?: readonly ExternalMount[];
  /** Empty directory for the images. */
  imagesDir: string;
  /** Directory for the log and the statistics. */
  workDir: string;
  snapshotHookPath: string;
  /** Subvolume of the session, and the read-only snapshot of it to make while the tasks stand. */
  snapshotSource: string;
  snapshotTarget: string;
  /** Finds the names that a file had at the instant of the snapshot. */
  namesOf: NamesOf;
  /** Control group in which the whole tree is frozen, and stays so. @defaultValue it runs on */
  frozenIn?: string;
  /** Leaves out what was not written since another checkpoint. @defaultValue everything is copied */
  tracked?: TrackedDump | undefined;
  /** Called when CRIU has captured all and the tree runs again, before snapshot and images are complete. */
  onCaptured?: (() => void) | undefined;
  /** Takes the log of a failed dump. @defaultValue it stays in `workDir` */
  failedLogsDir?: string;
  /** Memory that is to be written: the deadline, at which the tree may be damaged, comes later. @defaultValue 0 */
  memoryBytes?: number;
  /** @defaultValue a minute, and more by `memoryBytes` */
  timeoutMs?: number;
}

/** What a dump took. */
export interface DumpResult {
  /** How long the tasks stood still, by CRIU's own clock. */
  pauseMs: number;
  /** All memory that the images hold. */
  memoryBytes: number;
  /** What was copied of it in the pause. */
  pauseBytes: number;
  /** Where the images are: another directory where they were put together. */
  imagesDir: string;
  durationMs: number;
}

/**
 * Dumps a process tree and snapshots its files at the same instant; the tree runs on, or stays frozen.
 *
 * **Requires** no connection from outside into the tree is open, until `onCaptured`.
 * **On success** `imagesDir` of the result is a complete image and `snapshotTarget` exists.
 * **On failure** the tree runs as before; `imagesDir` and `snapshotTarget` may hold parts, which
 * the caller removes. What passes by itself (a vfork, a connection not yet accepted) was tried
 * three times.
 *
 * @throws CRIU_DUMP_FAILED  `detail` names process and resource, and has CRIU's words. Also where
 *                           CRIU has dumped what it would not restore.
 * @throws STORE_FULL        images or snapshot found no space.
 * @throws STORE_FAILED      the snapshot failed otherwise.
 */
export async function dump(options: DumpOptions): Promise<DumpResult> {
  const startedAtMs = performance.now();
  for (let attempt = 0; ; attempt++) {
    const run = await runDump(options, {
      WAYPOINT_SNAPSHOT_SOURCE: options.snapshotSource,
      WAYPOINT_SNAPSHOT_TARGET: options.snapshotTarget,
    });
    if (run.exitCode === 0 && !run.timedOut) {
      const unrestorable = await lookAtCapture(options);
      if (!(await awaitSnapshot(options.snapshotTarget))) throw noSnapshot(options);
      if (unrestorable !== null) throw await toUnrestorableError(unrestorable, options.imagesDir);
      const { imagesDir, cleanBytes, takenBytes } = await completeTracked(options);
      await giveTerminalsBack(imagesDir);
      await placeMovedSockets(imagesDir, options.workDir, options.namesOf);
      await placeSenders(imagesDir);
      const { pauseMs, copiedBytes } = await readDumpStatistics(options.workDir);
      const pauseBytes = copiedBytes + takenBytes;
      const durationMs = performance.now() - startedAtMs;
      return { pauseMs, pauseBytes, memoryBytes: pauseBytes + cleanBytes, imagesDir, durationMs };
    }
    // Nobody removes a snapshot while it is made.
    await awaitSnapshot(options.snapshotTarget);
    const log = await readLog(join(options.workDir, LOG_NAME), run);
    const why = await explain(options, log, run);
    if (!why.transient || attempt === RETRIES_MAX) {
      const logPath = await keepLog({ ...options, log, logName: LOG_NAME });
      throw toDumpError({ why, log, run, logPath });
    }
    await emptyDirectory(options.imagesDir);
    await delay(RETRY_GAP_MS);
  }
}

/** Before anybody else changes files: what is looked at is the tree as it is. */
async function lookAtCapture(options: DumpOptions): Promise<Unrestorable | null> {
  try {
    const unrestorable = await findUnrestorable(options.imagesDir, treeRoot(options));
    options.onCaptured?.();
    return unrestorable;
  } catch (error) {
    // Nobody removes a snapshot while it is made.
    await awaitSnapshot(options.snapshotTarget);
    throw error;
  }
}

/** Runs CRIU once for a dump; `special` is for its preload and its hook. */
export async function runDump(
  options: Omit<DumpOptions, "snapshotSource" | "snapshotTarget"> & { logName?: string },
  special: Record<string, string>,
): Promise<CriuRun> {
  const socketsFound = await beginSocketNotes(options.workDir);
  const trackedEnv = await beginTracked(options);
  return await runCriu({
    criu: options.criu,
    netnsPath: options.netnsPath,
    criuArguments: buildDumpArguments({
      ...options,
      logName: options.logName ?? LOG_NAME,
      locksConnections: hasQueuedData(options.pid),
    }),
    env: {
      WAYPOINT_SOCKETS_FOUND: socketsFound,
      WAYPOINT_ROOT: options.rootDir,
      WAYPOINT_TREE_ROOT: treeRoot(options),
      WAYPOINT_SMAPS_AHEAD: "on",
      WAYPOINT_HOOK_ACTIONS: "post-dump",
      ...trackedEnv,
      ...special,
    },
    timeoutMs: options.timeoutMs ?? timeoutFor(options.memoryBytes),
    isLost: () => isTreeKilled(options.pid),
    endLeft: (ending) => endStaleProcesses({ command: "dump", workDir: options.workDir }, ending),
  });
}

/** The tree's own root, where its devices and what is mounted in it are seen. */
function treeRoot({ pid }: Pick<DumpOptions, "pid">): string {
  return `/proc/${pid}/root`;
}

/**
 * Returns whether the snapshot was made. Its way to the disk takes place while the tasks run again,
 * and the kernel holds the lock of a directory in which it makes a snapshot: reading it waits.
 */
async function awaitSnapshot(snapshotTarget: string): Promise<boolean> {
  const names = await readdir(dirname(snapshotTarget));
  return names.includes(basename(snapshotTarget));
}

function noSnapshot({ snapshotTarget }: DumpOptions): WaypointError {
  return new WaypointError(
    "STORE_FAILED",
    "The snapshot of the session's files could not be written.",
    {
      hint: "The kernel's log (`dmesg`) says what btrfs or the disk below it ran into.",
      detail: { snapshotTarget },
    },
  );
}

async function explain(
  options: DumpOptions,
  log: string,
  run: CriuRun,
): Promise<FailureExplanation> {
  const { pid: rootPid, netnsPath } = options;
  const facts = await readFailureFacts({ rootPid, netnsPath, log });
  return explainRun(run, explainDumpFailure(log, facts));
}

/** Returns the end of CRIU's log, or what it said elsewhere if it never got as far as a log. */
export async function readLog(logPath: string, run: CriuRun): Promise<string> {
  const log = await readFile(logPath, "utf8").catch(() => "");
  return log === "" ? run.output : log.slice(-LOG_READ_BYTES_MAX);
}

function toDumpError(failure: {
  why: FailureExplanation;
  log: string;
  run: CriuRun;
  logPath: string;
}): WaypointError {
  const { why, log, run, logPath } = failure;
  return new WaypointError(why.code, why.message, {
    hint: why.hint,
    detail: {
      reason: why.reason,
      pid: why.pid,
      processName: why.processName,
      resource: why.resource,
      criuErrors: excerptAroundErrors(log),
      logPath,
      exitCode: run.exitCode,
    },
  });
}

async function emptyDirectory(directory: string): Promise<void> {
  const names = await readdir(directory);
  await Promise.all(names.map((name) => rm(join(directory, name), { recursive: true })));
}
