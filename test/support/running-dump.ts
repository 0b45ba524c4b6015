import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { findRunningCriu, type RunningCriu } from "../../src/linux/criu/index.ts";
import { killDaemon } from "./crash-model.ts";
import { eventually } from "./test-waypoint.ts";

/** Returns the CRIU that a daemon has started to dump a session and that has not ended. */
export function findDump(stateDir: string, daemonPid: number): number | undefined {
  return findCriuOf({ stateDir, daemonPid, command: "dump" });
}

/** The CRIU of a daemon that is to be found. */
interface WantedCriu {
  stateDir: string;
  daemonPid: number;
  command: RunningCriu["command"];
}

function findCriuOf({ stateDir, daemonPid, command }: WantedCriu): number | undefined {
  return findRunningCriu((argument) => argument.startsWith(`${stateDir}/`)).find(
    (each) => each.command === command && parentOf(each.pid) === daemonPid,
  )?.pid;
}

/** Returns the program of a daemon that puts images together, or copies memory ahead. */
export function findAssemble(daemonPid: number): number | undefined {
  try {
    const threads = readdirSync(`/proc/${daemonPid}/task`);
    const children = threads.flatMap((thread) =>
      readFileSync(`/proc/${daemonPid}/task/${thread}/children`, "utf8").split(" "),
    );
    const found = children.filter(Boolean).find((pid) => {
      const [program = "", first] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      return program.endsWith("/image-assemble") && first !== "compare";
    });
    return found === undefined ? undefined : Number(found);
  } catch {
    return undefined; // One of them has ended meanwhile.
  }
}

/** A program that stands still, and what becomes of the operation that it is at work for. */
export interface Stopped<T> {
  pid: number;
  outcome: Promise<T | Error>;
}

/** A CRIU that stands still. */
export type StoppedCriu<T> = Pick<Stopped<T>, "outcome"> & { criu: number };

/**
 * Begins an operation until the CRIU of it is stopped: it may be done before it is seen.
 *
 * @param prepare  is run before each beginning.
 * @throws what the operation throws before its CRIU is stopped
 */
export async function stopInCriu<T>(
  wanted: WantedCriu,
  begin: () => Promise<T>,
  prepare: () => Promise<unknown> = () => Promise.resolve(),
): Promise<StoppedCriu<T>> {
  const { pid, outcome } = await stopIn(() => findCriuOf(wanted), begin, prepare);
  return { criu: pid, outcome };
}

/** Likewise of a program that `find` finds. */
export async function stopIn<T>(
  find: () => number | undefined,
  begin: () => Promise<T>,
  prepare: () => Promise<unknown> = () => Promise.resolve(),
): Promise<Stopped<T>> {
  for (;;) {
    await prepare();
    let isDone = false;
    const outcome = begin()
      .catch((error: unknown) => error as Error)
      .finally(() => {
        isDone = true;
      });
    while (!isDone) {
      const pid = find();
      if (pid !== undefined && (await standsStill(pid))) return { pid, outcome };
      await delay(0);
    }
    const missed = await outcome;
    if (missed instanceof Error) throw missed;
  }
}

function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false; // It has ended.
  }
}

/** Kills a daemon while a CRIU of it is at a dump, which goes on by itself. */
export async function killDaemonInDump(stateDir: string, daemonPid: number): Promise<void> {
  await eventually(
    "a dump",
    () => {
      // What is found is still under way when the daemon dies: nobody goes on with it meanwhile.
      process.kill(daemonPid, "SIGSTOP");
      const dump = findDump(stateDir, daemonPid);
      if (dump === undefined) process.kill(daemonPid, "SIGCONT");
      return dump;
    },
    (dump) => dump !== undefined,
  );
  await killDaemon(daemonPid);
}

/** Kills a process in its work; false when it is at its end already. */
export async function killAtWork(pid: number): Promise<boolean> {
  return (await standsStill(pid)) && signal(pid, "SIGKILL");
}

/** Stops a process; false when it is at its end already. */
async function standsStill(pid: number): Promise<boolean> {
  if (!signal(pid, "SIGSTOP")) return false;
  // One that stands still has not begun to end.
  for (let state = stateOf(pid); state !== "T"; state = stateOf(pid)) {
    if (state === "" || state === "Z") return false;
    await delay(0);
  }
  return true;
}

/** Returns the parent of a process, 0 for one that has ended. */
export function parentOf(pid: number): number {
  return Number(/^PPid:\t(\d+)/m.exec(statusOf(pid))?.[1] ?? 0);
}

function stateOf(pid: number): string {
  return /^State:\t(\S)/m.exec(statusOf(pid))?.[1] ?? "";
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return ""; // It has ended.
  }
}
