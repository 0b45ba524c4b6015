import type { Readable } from "node:stream";
import { WaypointError } from "../shared/errors/index.ts";
import { backgroundPrograms } from "./background-programs.ts";
import { processesFull } from "./processes-full.ts";
import { type Child, startChild } from "./start-child.ts";

/** Output kept of each stream of a finished process; the rest is dropped, never buffered. */
const OUTPUT_KEPT_BYTES_MAX = 1024 * 1024;

/** After the deadline's kill a process may need this long to be gone. */
const KILLED_GRACE_MS = 2_000;

/** How to start a process. */
export interface RunProcessOptions {
  /** Written to the process's standard input, which is then closed. @defaultValue no input */
  input?: string;
  /** The whole environment of the process. @defaultValue the environment of this process */
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** Descriptors that it gets as 3, 4, …. @defaultValue none */
  descriptors?: readonly number[];
  /** Ends the process after this time, and no longer waits for one that does not end. @defaultValue 60 000 */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Exit codes that count as success. @defaultValue [0] */
  okExitCodes?: readonly number[];
  /** Nobody waits for it: it stands while something is done that somebody waits for. @defaultValue false */
  isBackground?: boolean;
}

/** What a finished process left. */
export interface ProcessResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/**
 * Runs a program to its end and returns what it printed.
 *
 * @throws TOOL_FAILED  it could not be started, was ended by a signal or a deadline, or its exit
 * code is not among `okExitCodes`; `detail.stderr` has the end of what it said.
 * @throws PROCESSES_FULL  the kernel starts no further process.
 */
export async function runProcess(
  argv: readonly [string, ...string[]],
  options: RunProcessOptions = {},
): Promise<ProcessResult> {
  const { input, okExitCodes = [0], timeoutMs = 60_000 } = options;
  const child = startChild(argv, {
    stdio: [
      input === undefined ? "ignore" : "pipe",
      "pipe",
      "pipe",
      ...(options.descriptors ?? []),
    ],
    ...(options.env === undefined ? {} : { env: options.env }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    // Who stops it may die then.
    hasOwnGroup: options.isBackground === true,
  });
  if (options.isBackground === true) backgroundPrograms.add(child);
  // A program that ends without reading its input makes the pipe fail; its exit code tells more.
  child.stdin?.on("error", () => {});
  child.stdin?.end(input);
  using _limit = endInTime(child, timeoutMs);
  using _abort = endOnAbort(child, options.signal);
  const [stdout, stderr, end] = await Promise.all([
    collect(child.stdout),
    collect(child.stderr),
    ended(child),
  ]);
  if (end.exitCode !== null && okExitCodes.includes(end.exitCode)) {
    return { exitCode: end.exitCode, stdout, stderr };
  }
  const full = processesFull(end.failure ?? stderr);
  if (full !== null) throw full;
  const how =
    end.failure?.message ??
    (end.exitCode === null ? `ended by ${end.signal}` : `exit code ${end.exitCode}`);
  throw new WaypointError("TOOL_FAILED", `${argv[0]} failed (${how}).`, {
    detail: { argv: argv.slice(0, 40), exitCode: end.exitCode, stderr: stderr.slice(-2000) },
    ...(stderr.trim() === "" ? {} : { hint: stderr.trim().slice(-400) }),
  });
}

/**
 * Ends a process at its deadline, and gives up one that has not ended although it was killed (it
 * waits in the kernel), and the pipes that a process of its own may hold open.
 */
function endInTime(child: Child, timeoutMs: number): Disposable {
  const killing = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
  const givingUp = setTimeout(() => {
    child.stdout?.destroy();
    child.stderr?.destroy();
    child.unref();
    child.emit("close", null, "SIGKILL");
  }, timeoutMs + KILLED_GRACE_MS);
  return {
    [Symbol.dispose]: () => {
      clearTimeout(killing);
      clearTimeout(givingUp);
    },
  };
}

/** Ends a process when its caller gives up, also one that did before it was started. */
function endOnAbort(child: Child, signal: AbortSignal | undefined): Disposable {
  const onAbort = () => {
    child.kill("SIGKILL");
    child.emit("error", new Error("The operation was aborted", { cause: signal?.reason }));
  };
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted === true) setImmediate(onAbort);
  return { [Symbol.dispose]: () => signal?.removeEventListener("abort", onAbort) };
}

async function collect(stream: Readable | null): Promise<string> {
  if (stream === null) return "";
  const chunks: Buffer[] = [];
  let keptBytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (keptBytes >= OUTPUT_KEPT_BYTES_MAX) continue;
      chunks.push(chunk);
      keptBytes += chunk.length;
    }
  } catch (error) {
    // One that was given up has no more to say.
    if (!stream.destroyed) throw error;
  }
  return Buffer.concat(chunks).toString("utf8");
}

interface ProcessEnd {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  failure?: Error;
}

function ended(child: Child): Promise<ProcessEnd> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ exitCode: null, signal: null, failure: error }));
    child.once("close", (exitCode: number | null, signal: NodeJS.Signals | null) =>
      resolve({ exitCode, signal }),
    );
  });
}
