import { existsSync, readdirSync, readFileSync } from "node:fs";

/** A process that runs CRIU's program, whoever started it. */
export interface RunningCriu {
  pid: number;
  command: "dump" | "restore";
  /** First process of the tree that is dumped; `null` of a restore. */
  treePid: number | null;
}

/**
 * Lists the processes that run CRIU with an argument that `isWanted`.
 *
 * Processes that a restore has made are among them, until they become what they were.
 */
export function findRunningCriu(isWanted: (argument: string) => boolean): RunningCriu[] {
  return listCommandLines().flatMap(({ pid, words }) => {
    const command = words.find((word) => word === "dump" || word === "restore");
    if (command === undefined || !words.includes("--work-dir")) return [];
    if (!words.some(isWanted)) return [];
    const treePid = command === "dump" ? Number(words[words.indexOf("--tree") + 1]) : null;
    return [{ pid, command, treePid }];
  });
}

/**
 * Tells whether a tree was killed while it was dumped: its CRIU then waits for ever.
 *
 * A first process that is killed now waits for its children to be collected, which are CRIU's to
 * collect, and CRIU waits for the first process. One without memory has been killed.
 */
export function isTreeKilled(treePid: number): boolean {
  return !existsSync(`/proc/${treePid}/exe`);
}

/** Tells whether somebody holds a tree, as CRIU does from before it changes anything in it. */
export function isTreeHeld(treePid: number): boolean {
  try {
    return !/^TracerPid:\t0$/m.test(readFileSync(`/proc/${treePid}/status`, "utf8"));
  } catch {
    return false; // It has ended.
  }
}

function listCommandLines(): { pid: number; words: string[] }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), words: commandLineOf(name) }));
}

function commandLineOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return []; // It has ended.
  }
}
