import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { pollUntil, processesFull } from "../base/index.ts";
import { WaypointError } from "../errors/index.ts";

/** How to start CRIU on this machine. */
export interface CriuProgram {
  /** Program and leading arguments; a private CRIU starts through its own dynamic loader. */
  argv: readonly string[];
  /** Added to the fixed environment that CRIU gets. */
  env: Readonly<Record<string, string>>;
  /** native/criu-enter.c, built: takes CRIU into a network namespace and control groups. */
  enterPath: string;
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
const END_TIMEOUT_MS = 10_000;
const LOST_CHECK_INTERVAL_MS = 250;

// CRIU starts helpers (tar, ip, nft) by name; nothing else of the daemon's environment reaches it.
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
  const places = [
    ...(netnsPath === null ? [] : ["--net", netnsPath]),
    ...cgroupFiles.flatMap((file) => ["--group", file]),
  ];
  return places.length === 0 ? command : [criu.enterPath, ...places, "--", ...command];
}

/**
 * Runs CRIU to its end; a failure of CRIU is a result, not an exception.
 *
 * At the deadline CRIU's children are ended first: a half restored tree is one of them, and would
 * live on without CRIU.
 *
 * @throws SETUP_INCOMPLETE  CRIU, or what starts it, cannot be started.
 * @throws PROCESSES_FULL    the kernel starts no further process.
 */
export function runCriu(options: {
  criu: CriuProgram;
  netnsPath: string | null;
  criuArguments: readonly string[];
  cgroupFiles?: readonly string[];
  env?: Record<string, string>;
  timeoutMs: number;
  /** Tells that CRIU waits for something that cannot come any more, and is to be ended. */
  isLost?: () => boolean;
}): Promise<CriuRun> {
  const { criu, netnsPath, criuArguments, timeoutMs } = options;
  const [program, ...rest] = buildCriuCommand(criu, netnsPath, criuArguments, options.cgroupFiles);
  if (program === undefined) throw new TypeError("the CRIU program has no argv");
  const startedAtMs = performance.now();
  const child = spawn(program, rest, {
    cwd: "/",
    env: { ...FIXED_ENV, ...criu.env, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const keep = (chunk: Buffer) => {
    if (output.length < OUTPUT_KEPT_BYTES_MAX) output += chunk.toString("utf8");
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  return new Promise((resolve, reject) => {
    let timedOut = false;
    const watch = setInterval(() => {
      if (options.isLost?.() === true) child.kill("SIGKILL");
    }, LOST_CHECK_INTERVAL_MS);
    let killed: number[] = [];
    const timer = setTimeout(() => {
      timedOut = true;
      if (child.pid !== undefined) killed = killWithChildren(child.pid);
    }, timeoutMs);
    child.once("error", (cause) => {
      clearTimeout(timer);
      clearInterval(watch);
      reject(cannotStart(program, cause));
    });
    child.once("close", (exitCode) => {
      clearTimeout(timer);
      clearInterval(watch);
      const run = { exitCode, timedOut, durationMs: performance.now() - startedAtMs, output };
      untilEnded(killed).then(() => resolve(run), reject);
    });
  });
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

/** Ends CRIU and its children, and returns the children. */
function killWithChildren(criuPid: number): number[] {
  // Stopped first, so that it starts no other child between the look and the kill.
  signal(criuPid, "SIGSTOP");
  const children = childrenOf(criuPid);
  for (const pid of [...children, criuPid]) signal(pid, "SIGKILL");
  return children;
}

/** The first process of a pid namespace ends last, so that waiting for it is enough. */
async function untilEnded(pids: readonly number[]): Promise<void> {
  const isEnded = (pid: number) =>
    !existsSync(`/proc/${pid}`) || /^State:\s*[XZ]/m.test(readStatus(pid));
  await pollUntil("the half restored tree to end", { timeoutMs: END_TIMEOUT_MS }, () =>
    pids.every(isEnded) ? true : undefined,
  );
}

function readStatus(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "State: X";
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended by itself in the meantime, which is what was wanted.
  }
}

function childrenOf(pid: number): number[] {
  const taskDir = `/proc/${pid}/task`;
  if (!existsSync(taskDir)) return [];
  return readdirSync(taskDir).flatMap((task) =>
    readFileSync(`${taskDir}/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
}
