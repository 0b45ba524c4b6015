import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import {
  type Child,
  findStandstill,
  killProcess,
  processesFull,
  startChild,
  withDeadline,
} from "../../base/index.ts";
import { parseChildren } from "../../formats/proc/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { LoadedProgram } from "../kernel/index.ts";
import { findRunningCriu } from "./running-criu.ts";

/** How to start CRIU on this machine. */
export interface CriuProgram {
  /** Program and leading arguments; a private CRIU starts through its own dynamic loader. */
  argv: readonly string[];
  /** Added to the fixed environment that CRIU gets. */
  env: Readonly<Record<string, string>>;
  /** native/criu-enter/criu-enter.c, built: takes CRIU into a network namespace and control groups. */
  enterPath: string;
  /** One that is loaded already, for all runs. @defaultValue each run is loaded */
  loaded?: Pick<LoadedProgram, "start"> & Disposable;
}

/** What one run of CRIU left. */
export interface CriuRun {
  exitCode: number | null;
  timedOut: boolean;
  durationMs: number;
  /** What it said outside its log, bounded. */
  output: string;
}

const OUTPUT_KEPT_BYTES_MAX = 16 * 1024;
const OUTPUT_TIMEOUT_MS = 1_000;
const LOST_CHECK_INTERVAL_MS = 250;
/** A CRIU that somebody has stopped is let go on after so many looks: its tree waits for it. */
const STOPPED_LOOKS_MAX = 20;
/** One that has not ended so long after its kill waits in the kernel, and is not waited for. */
const KILLED_TIMEOUT_MS = 10_000;

/** How long a run may take, whatever its size, and how much memory it has to move in a millisecond. */
const TIMEOUT_MS_MIN = 60_000;
const BYTES_PER_MS_MIN = 16 * 1024;

// CRIU starts helpers (tar, ip, nft) by name; nothing else of the daemon's environment reaches it.
const STDIO = ["ignore", "pipe", "pipe"] as const;
const FIXED_ENV = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };

/**
 * Returns the argument vector that runs CRIU inside a network namespace and control groups.
 *
 * CRIU inside the tree's own network namespace sees no foreign one, which saves it 20 to 45 ms per
 * dump. It is executed in place, so that its process id is that of the process started here.
 */
export function buildCriuCommand(
  criu: CriuProgram,
  netnsPath: string | null,
  criuArguments: readonly string[],
  cgroupFiles: readonly string[] = [],
): string[] {
  const command = [...criu.argv, ...criuArguments];
  const places = placesOf(netnsPath, cgroupFiles);
  return places.length === 0 ? command : [criu.enterPath, ...places, "--", ...command];
}

function placesOf(netnsPath: string | null, cgroupFiles: readonly string[]): string[] {
  return [
    ...(netnsPath === null ? [] : ["--net", netnsPath]),
    ...cgroupFiles.flatMap((file) => ["--group", file]),
  ];
}

/** Returns the program with one of it that is loaded, and waits until it is disposed of. */
export function loadCriu<Program extends CriuProgram>(
  criu: Program,
): Program & { loaded: LoadedProgram } {
  const [program, ...rest] = criu.argv;
  if (program === undefined) throw new TypeError("the CRIU program has no argv");
  return { ...criu, loaded: new LoadedProgram([program, ...rest], { ...FIXED_ENV, ...criu.env }) };
}

/** Returns how long CRIU may take for so much memory. */
export function timeoutFor(memoryBytes = 0): number {
  return TIMEOUT_MS_MIN + memoryBytes / BYTES_PER_MS_MIN;
}

/** How to run CRIU. */
interface CriuRunOptions {
  criu: CriuProgram;
  netnsPath: string | null;
  criuArguments: readonly string[];
  cgroupFiles?: readonly string[];
  env?: Record<string, string>;
  timeoutMs: number;
  /** Tells that CRIU waits for something that cannot come any more, and is to be ended. */
  isLost?: () => boolean;
  /** Ends what a CRIU that failed, or was ended, has left. Gets processes that are ending already. */
  endLeft?: (ending: readonly number[]) => Promise<void>;
}

/**
 * Runs CRIU to its end; a failure of CRIU is a result, not an exception.
 *
 * At the deadline CRIU's children are ended first: a half restored tree is one of them, and would
 * go on when CRIU lets go of it.
 *
 * @throws SETUP_INCOMPLETE   CRIU, or what starts it, cannot be started.
 * @throws PROCESSES_FULL     the kernel starts no further process.
 * @throws DEADLINE_EXCEEDED  what CRIU has left does not end.
 */
export async function runCriu(options: CriuRunOptions): Promise<CriuRun> {
  const startedAtMs = performance.now();
  const { child, output } = startCriu(options);
  const closed = new Promise((resolve) => child.once("close", resolve));
  let killed: number[] | null = null;
  const timer = setTimeout(() => {
    killed = child.pid === undefined ? [] : killWithChildren(child.pid);
  }, options.timeoutMs);
  let stoppedLooks = 0;
  const watch = setInterval(() => {
    if (options.isLost?.() === true) child.kill("SIGKILL");
    stoppedLooks = killed === null && isStopped(child.pid) ? stoppedLooks + 1 : 0;
    if (stoppedLooks >= STOPPED_LOOKS_MAX) child.kill("SIGCONT");
  }, LOST_CHECK_INTERVAL_MS);
  try {
    const exitCode = await exitInTime(child, options.timeoutMs + KILLED_TIMEOUT_MS);
    // It may have come to its end in the same moment as its time.
    const timedOut = killed !== null;
    if (exitCode !== 0 || timedOut) await options.endLeft?.(killed ?? []);
    // What is left of it can hold the pipe open for ever.
    await Promise.race([closed, delay(OUTPUT_TIMEOUT_MS, undefined, { ref: false })]);
    return { exitCode, timedOut, durationMs: performance.now() - startedAtMs, output: output() };
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

function startCriu(options: CriuRunOptions): { child: Child; output: () => string } {
  const child = startLoaded(options) ?? startAnew(options);
  let output = "";
  const keep = (chunk: Buffer) => {
    if (output.length < OUTPUT_KEPT_BYTES_MAX) output += chunk.toString("utf8");
  };
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  return { child, output: () => output };
}

function startLoaded(options: CriuRunOptions): Child | null {
  const { criu, netnsPath, criuArguments, cgroupFiles = [] } = options;
  const words = [...placesOf(netnsPath, cgroupFiles), "--", ...criuArguments];
  return criu.loaded?.start({ words, env: envOf(options), stdio: STDIO }) ?? null;
}

function startAnew(options: CriuRunOptions): Child {
  const { criu, netnsPath, criuArguments, cgroupFiles } = options;
  const [program, ...rest] = buildCriuCommand(criu, netnsPath, criuArguments, cgroupFiles);
  if (program === undefined) throw new TypeError("the CRIU program has no argv");
  return startChild([program, ...rest], { cwd: "/", env: envOf(options), stdio: STDIO });
}

function envOf({ criu, env }: CriuRunOptions): Record<string, string> {
  return { ...FIXED_ENV, ...criu.env, ...env };
}

/** Resolves when CRIU has ended, to `null` if a signal ended it. */
function exitOf(child: Child): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once("error", (cause) => reject(cannotStart(child.spawnfile, cause)));
    child.once("exit", resolve);
  });
}

/** @throws DEADLINE_EXCEEDED  it has not even ended when it was killed. */
async function exitInTime(child: Child, timeoutMs: number): Promise<number | null> {
  try {
    return await withDeadline("CRIU to end", timeoutMs, exitOf(child));
  } catch (error) {
    child.unref();
    throw error;
  }
}

function isStopped(pid: number | undefined): boolean {
  return pid !== undefined && findStandstill(pid)?.kind === "stopped";
}

/** Ends the runs of CRIU in a working directory, whatever they are at. */
export function endRuns(workDir: string): void {
  for (const { pid } of findRunningCriu((argument) => argument === workDir)) killWithChildren(pid);
}

function cannotStart(program: string, cause: Error): WaypointError {
  const full = processesFull(cause);
  if (full !== null) return full;
  return new WaypointError(
    "SETUP_INCOMPLETE",
    `${program} could not be started: ${cause.message}.`,
    {
      hint: "Run `waypoint setup`, which brings CRIU and names the packages that are missing.",
      detail: { program },
      cause,
    },
  );
}

/** Ends CRIU and its children, and returns the children: but for one that is just being made. */
function killWithChildren(criuPid: number): number[] {
  // Stopped first, so that it does nothing for a child that it finds dead.
  killProcess(criuPid, "SIGSTOP");
  const children = childrenOf(criuPid);
  for (const pid of [...children, criuPid]) killProcess(pid);
  return children;
}

function childrenOf(pid: number): number[] {
  try {
    return parseChildren(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8"));
  } catch {
    return []; // It has ended.
  }
}
