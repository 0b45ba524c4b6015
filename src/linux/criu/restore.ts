import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { noProcessLeft, refusedProcesses } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { buildRestoreArguments, type ExternalMount } from "./build-arguments.ts";
import { type CriuProgram, type CriuRun, runCriu, timeoutFor } from "./criu-program.ts";
import { readLog } from "./dump.ts";
import { explainRestoreFailure } from "./explain-failure.ts";
import { explainRun } from "./explain-unfinished.ts";
import { findInheritedTerminals, type InheritedTerminal } from "./inherited-terminals.ts";
import { keepLog } from "./keep-log.ts";
import { excerptAroundErrors } from "./log-excerpt.ts";
import { writeMovedSockets } from "./moved-sockets.ts";
import { readImageFacts } from "./read-image-facts.ts";
import { ResumeGate } from "./resume-gate.ts";
import { findRightsSenders, type RightsSender } from "./rights-in-flight.ts";
import { withMountRoot } from "./stale-mount-roots.ts";
import { endStaleProcesses } from "./stale-processes.ts";

const LOG_NAME = "restore.log";
const GATE_NAME = "resume.sock";
/**
 * How long a process waits for descriptors that messages in flight bring, in each of the tries; no
 * other restore waits. They come within a millisecond, on a busy machine within some dozens.
 */
const WAITS_MS = [20, 500, 5000] as const;
/** There is no other try, since the pages server may have served the tree already. */
const LAZY_WAIT_MS = 500;

/** What to restore, and into what. */
export interface RestoreOptions {
  criu: CriuProgram;
  /** Fresh network namespace with lo up and the inner address, null for the daemon's own. */
  netnsPath: string | null;
  /** Files that take the tree into its control groups: it is born in them. @defaultValue none */
  cgroupFiles?: readonly string[];
  /** Mount point of the root filesystem that belongs to the images. */
  rootDir: string;
  /** Those of the dump, mounted below `rootDir` now. @defaultValue none */
  externalMounts?: readonly ExternalMount[];
  /** Any number of restores may read the same images at the same time. */
  imagesDir: string;
  /** Directory of this restore alone, for the log and the statistics. */
  workDir: string;
  /** File to be made with the root's process id. @defaultValue `pid` in `workDir` */
  pidFile?: string;
  /** Leaves every task stopped until it gets SIGCONT. @defaultValue false */
  leaveStopped?: boolean;
  /** Brings most of the memory later: a pages server was started in `workDir`. @defaultValue false */
  isLazy?: boolean;
  /** What has to be done between the last task's coming back and the first one's next step. */
  beforeResume?: BeforeResume;
  /** Leaves the tree frozen, without a step taken. @defaultValue it runs */
  park?: ParkOptions;
  /** Takes the log of a failed restore. @defaultValue it stays in `workDir` */
  failedLogsDir?: string;
  /** Is told of a failure whose reason passes, before each further try. */
  onRetry?: (error: WaypointError) => void;
  /** @defaultValue a minute */
  timeoutMs?: number;
}

/** Work that a restore waits for; its failure ends the restore, and is the error that it throws. */
export interface BeforeResume {
  /** The program that tells CRIU to wait. */
  hookPath: string;
  run: () => Promise<void>;
}

/** How a tree is parked. **Requires** a frozen control group that CRIU itself is not in. */
export interface ParkOptions {
  /** The program that moves the tree into the group. */
  hookPath: string;
  /** The group's cgroup.procs. */
  groupFile: string;
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
 * **On success** the tree runs, or stands where `leaveStopped` or `park` was asked for; of a parked
 * one the caller checks that it is in its group, since CRIU goes on without.
 * **On failure** nothing of the tree is left running.
 *
 * @throws CRIU_RESTORE_FAILED    `detail` has the resource and CRIU's words.
 * @throws CHECKPOINT_INCOMPLETE  an image is missing or damaged.
 * @throws STORE_FULL             a restored file found no space.
 * @throws DEADLINE_EXCEEDED      it took longer than `timeoutMs`.
 */
export async function restore(options: RestoreOptions): Promise<RestoreResult> {
  const waits = options.isLazy === true ? [LAZY_WAIT_MS] : WAITS_MS;
  for (const [attempt, waitMs] of waits.entries()) {
    try {
      return await restoreOnce(options, waitMs);
    } catch (error) {
      const mayPass = error instanceof WaypointError && error.detail["transient"] === true;
      if (!mayPass || attempt === waits.length - 1) throw error;
      options.onRetry?.(error);
    }
  }
  throw new TypeError("no restore was tried");
}

async function restoreOnce(options: RestoreOptions, waitMs: number): Promise<RestoreResult> {
  const pidFile = options.pidFile ?? join(options.workDir, "pid");
  const { beforeResume, park } = options;
  await using gate =
    beforeResume === undefined
      ? null
      : await ResumeGate.open(join(options.workDir, GATE_NAME), beforeResume.run);
  const [terminals, senders, socketsMoved] = await Promise.all([
    findInheritedTerminals(options.imagesDir),
    findRightsSenders(options.imagesDir),
    writeMovedSockets(options.imagesDir, options.workDir),
  ]);
  const refusedBefore = refusedProcesses();
  const run = await withMountRoot((mountRoot) =>
    runCriu({
      criu: options.criu,
      netnsPath: options.netnsPath,
      cgroupFiles: options.cgroupFiles ?? [],
      criuArguments: buildRestoreArguments({
        externalMounts: [],
        ...options,
        ...(beforeResume === undefined ? {} : { resumeHookPath: beforeResume.hookPath }),
        pidFile,
        logName: LOG_NAME,
        ...(park === undefined ? {} : { parkHookPath: park.hookPath }),
      }),
      env: {
        WAYPOINT_MOUNT_ROOT: mountRoot,
        ...hookVariables(gate, park),
        ...(socketsMoved === null ? {} : { WAYPOINT_SOCKETS_MOVED: socketsMoved }),
        ...(terminals.length === 0 ? {} : { WAYPOINT_TERMINALS: asWords(terminals) }),
        ...(senders.length === 0
          ? {}
          : { WAYPOINT_RIGHTS: [waitMs, ...senders.map(asPair)].join(",") }),
      },
      timeoutMs: options.timeoutMs ?? timeoutFor(),
      endLeft: (ending) => endStaleProcesses({ ...options, command: "restore" }, ending),
    }),
  );
  if (gate !== null && gate.failure !== null) throw gate.failure.cause;
  if (run.exitCode !== 0 || run.timedOut) {
    const error = await toRestoreError(options, run);
    const isUnexplained = error.detail["reason"] === "unknown";
    const isFull = isUnexplained && refusedProcesses() > refusedBefore;
    throw isFull ? noProcessLeft(error) : error;
  }
  const pid = Number((await readFile(pidFile, "utf8")).trim());
  return { pid, durationMs: run.durationMs };
}

/** What the hooks of a restore need, and the actions in which they have something to do. */
function hookVariables(gate: ResumeGate | null, park: ParkOptions | undefined) {
  const actions = [...(gate === null ? [] : ["post-restore"]), ...(park ? ["pre-resume"] : [])];
  return {
    WAYPOINT_HOOK_ACTIONS: actions.join(" "),
    ...(gate === null ? {} : { WAYPOINT_RESUME_SOCKET: gate.socketPath }),
    ...(park === undefined ? {} : { WAYPOINT_PARK_FILE: park.groupFile }),
  };
}

function asWords(terminals: readonly InheritedTerminal[]): string {
  return terminals
    .map(({ leaderPid, index, holderPid }) => `${leaderPid}:${index}:${holderPid}`)
    .join(",");
}

function asPair({ pid, count }: RightsSender): string {
  return `${pid}:${count}`;
}

async function toRestoreError(options: RestoreOptions, run: CriuRun): Promise<WaypointError> {
  const own = await readLog(join(options.workDir, LOG_NAME), run);
  // What our preload says comes from CRIU's standard error.
  const log = own === run.output ? own : own + run.output;
  const logPath = await keepLog({ ...options, log, logName: LOG_NAME });
  const facts = await readImageFacts(options.imagesDir);
  const why = explainRun(run, explainRestoreFailure(log, facts));
  return new WaypointError(why.code, why.message, {
    hint: why.hint,
    detail: {
      reason: why.reason,
      resource: why.resource,
      transient: why.transient,
      criuErrors: excerptAroundErrors(log),
      logPath,
      exitCode: run.exitCode,
    },
  });
}
