import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import type { Socket } from "node:net";
import path from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { stateLayout } from "../../base/index.ts";
import { type ErrorWire, hasCode, WaypointError } from "../../shared/errors/index.ts";
import { daemonNode } from "./daemon-node.ts";
import { makeStateDir, notStateDir } from "./make-state-dir.ts";
import { findPackageRoot } from "./package-root.ts";
import { tryConnect } from "./try-connect.ts";

/** The first start makes the store, which takes seconds on a slow disk. */
const START_TIMEOUT_MS = 30_000;
/** How long another daemon may hold the directory without listening, until that is told. */
const BUSY_TIMEOUT_MS = 15_000;

/** How long a daemon that holds the directory may take to listen before it is tried again. */
const BUSY_WAIT_MS = 1000;
const SOCKET_POLL_INTERVAL_MS = 15;

/** End of the daemon's log that an error quotes. */
const LOG_EXCERPT_CHARACTERS_MAX = 1200;

/** What of this process's environment the daemon needs; the rest may hold the user's secrets. */
const ENVIRONMENT_PASSED = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ"];

/**
 * Starts the daemon of `stateDir` detached from this process and connects to it.
 *
 * **Requires** root.
 * **On success** the daemon listens and outlives this process.
 * **On failure** no daemon started by this call is left running.
 *
 * Safe to call at the same time from several processes: the daemons' lock lets one of them live,
 * and everyone connects to that one.
 *
 * @throws DAEMON_UNREACHABLE  it ended before it was ready, or was not ready in time.
 * @throws SETUP_INCOMPLETE    the package was not built, or there is no Node for the daemon.
 */
export async function startDaemon(stateDir: string, signal?: AbortSignal): Promise<Socket> {
  const endsAtMs = performance.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    const isBusy = await startOnce(stateDir, signal);
    const socket = await awaitSocket(stateDir, isBusy ? BUSY_WAIT_MS : START_TIMEOUT_MS, signal);
    if (socket !== null) return socket;
    if (isBusy && performance.now() >= endsAtMs) throw busy(stateDir);
    if (!isBusy) throw notStarted(stateDir, "does not listen");
  }
}

/**
 * Starts a daemon; returns whether it gave way to another one.
 *
 * The other one was started by a quicker client and is about to listen, or is about to end and
 * leaves the directory to whoever asks next.
 */
async function startOnce(stateDir: string, signal?: AbortSignal): Promise<boolean> {
  try {
    await readiness(spawnDaemon(stateDir), stateDir, signal);
    return false;
  } catch (error) {
    if (hasCode(error, "STATE_DIR_BUSY")) return true;
    throw error;
  }
}

async function awaitSocket(
  stateDir: string,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Socket | null> {
  const { socketPath } = stateLayout(stateDir);
  const endsAtMs = performance.now() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    const socket = await tryConnect(socketPath);
    if (socket !== null || performance.now() >= endsAtMs) return socket;
    await delay(SOCKET_POLL_INTERVAL_MS);
  }
}

function spawnDaemon(stateDir: string): ChildProcess {
  const programPath = path.join(findPackageRoot(), "dist", "daemon.mjs");
  if (!existsSync(programPath)) {
    throw new WaypointError("SETUP_INCOMPLETE", `The daemon's program ${programPath} is missing.`, {
      hint: "Run `npm run build` in the package, or install Waypoint again.",
      detail: { programPath },
    });
  }
  const program = daemonNode();
  const logFd = openLog(stateDir);
  try {
    const child = spawn(program, [programPath], {
      cwd: "/",
      detached: true,
      env: daemonEnvironment(stateDir, program),
      stdio: ["ignore", logFd, logFd, "pipe"],
    });
    child.unref();
    return child;
  } finally {
    closeSync(logFd);
  }
}

function openLog(stateDir: string): number {
  makeStateDir(stateDir);
  try {
    return openSync(stateLayout(stateDir).logPath, "a", 0o600);
  } catch (cause) {
    throw notStateDir(stateDir, cause);
  }
}

function daemonEnvironment(stateDir: string, program: string): NodeJS.ProcessEnv {
  const passed = Object.entries(process.env).filter(
    ([name]) => ENVIRONMENT_PASSED.includes(name) || name.startsWith("WAYPOINT_"),
  );
  // They are options of this program's Node, and another one may refuse them.
  if (program === process.execPath) passed.push(["NODE_OPTIONS", process.env["NODE_OPTIONS"]]);
  return { ...Object.fromEntries(passed), WAYPOINT_DIR: stateDir };
}

/** Resolves when the daemon says that it is ready; rejects with what it says instead. */
async function readiness(child: ChildProcess, stateDir: string, signal?: AbortSignal) {
  const pipe = child.stdio[3] as Readable;
  const deadline = AbortSignal.timeout(START_TIMEOUT_MS);
  const stop = signal === undefined ? deadline : AbortSignal.any([deadline, signal]);
  const onStop = () => pipe.destroy();
  stop.addEventListener("abort", onStop, { once: true });
  let line = "";
  try {
    const spawnFailure = new Promise<never>((_resolve, reject) => child.once("error", reject));
    line = await Promise.race([readLine(pipe), spawnFailure]);
  } finally {
    stop.removeEventListener("abort", onStop);
    pipe.destroy();
  }
  if (stop.aborted) {
    child.kill("SIGTERM");
    signal?.throwIfAborted();
    throw notStarted(stateDir, `was not ready within ${START_TIMEOUT_MS / 1000} s`);
  }
  const answer = parseAnswer(line);
  if (answer === null) throw notStarted(stateDir, "ended before it was ready");
  if (answer.error !== undefined) throw WaypointError.fromJSON(answer.error);
}

async function readLine(pipe: Readable): Promise<string> {
  let text = "";
  try {
    for await (const chunk of pipe.setEncoding("utf8")) {
      text += chunk;
      if (text.includes("\n")) break;
    }
  } catch (error) {
    // A pipe that was destroyed by the deadline has no more to say; the caller looks at that.
    if (!pipe.destroyed) throw error;
  }
  return text.split("\n", 1)[0] ?? "";
}

function parseAnswer(line: string): { error?: ErrorWire } | null {
  try {
    return JSON.parse(line) as { error?: ErrorWire };
  } catch {
    return null;
  }
}

function notStarted(stateDir: string, what: string): WaypointError {
  const { logPath } = stateLayout(stateDir);
  return new WaypointError("DAEMON_UNREACHABLE", `The Waypoint daemon ${what}.`, {
    hint: `Read its log at ${logPath}, then run \`waypoint doctor\`.`,
    detail: { stateDir, logPath, logExcerpt: logExcerpt(logPath) },
  });
}

/** Whoever has the lock neither answers nor ends. */
function busy(stateDir: string): WaypointError {
  const { lockPath, logPath } = stateLayout(stateDir);
  const message = `Another daemon has ${stateDir} and neither answers nor ends.`;
  return new WaypointError("DAEMON_UNREACHABLE", message, {
    hint: `\`fuser ${lockPath}\` finds it; ${logPath} says what it is at. Its end harms no session.`,
    detail: { stateDir, lockPath, logPath, logExcerpt: logExcerpt(logPath) },
  });
}

function logExcerpt(logPath: string): string {
  try {
    return readFileSync(logPath, "utf8").slice(-LOG_EXCERPT_CHARACTERS_MAX);
  } catch {
    return "";
  }
}
