import { readdirSync, readFileSync } from "node:fs";
import { hasFrozenGroup, killProcess, leaveFrozenGroup, pollUntil } from "../../base/index.ts";
import {
  innerPidOf,
  type MountEntry,
  parseChildren,
  parseMountInfo,
} from "../../formats/proc/index.ts";

const CLOCK_TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;
const END_TIMEOUT_MS = 10_000;
/** PID 1 ends its namespace in less time than this many looks take, unless something holds it. */
const LOOKS_UNTIL_ALL = 100;

/** A process as the host's /proc shows it. */
export interface TreeProcess {
  hostPid: number;
  /** Process id inside the session. */
  pid: number;
  /** Parent's process id inside the session; 0 for its PID 1. */
  parentPid: number;
  uid: number;
  state: string;
  /** Of a process in state Z that is more than one: its first thread has ended while others run on. */
  threadCount: number;
  memoryBytes: number;
  startedAtMs: number;
  command: string;
}

/** Returns when a process started, in clock ticks since boot, or `null` when there is none. */
export function startTicks(hostPid: number): number | null {
  const fields = readStat(hostPid);
  return fields === null ? null : Number(fields[19]);
}

/** Returns what /proc/PID/stat says from the state on, or `null` when there is no such process. */
export function readStat(hostPid: number): string[] | null {
  const stat = readProc(hostPid, "stat");
  return stat === null ? null : fieldsAfterName(stat);
}

/** Lists a session's processes, PID 1 first, `countMax` at most; those that end meanwhile are left out. */
export function listProcesses(
  initHostPid: number,
  countMax: number = Number.POSITIVE_INFINITY,
): TreeProcess[] {
  const bootedAtMs = Date.now() - uptimeMs();
  const found: TreeProcess[] = [];
  const waiting: { hostPid: number; parentPid: number }[] = [
    { hostPid: initHostPid, parentPid: 0 },
  ];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (found.length >= countMax) break;
    const process = readProcess(next.hostPid, next.parentPid, bootedAtMs);
    if (process === null) continue;
    found.push(process);
    for (const hostPid of childrenOf(next.hostPid)) {
      waiting.push({ hostPid, parentPid: process.pid });
    }
  }
  return found;
}

/** Lists the process ids of a session as the host sees them, PID 1 first. */
export function listPids(initHostPid: number): number[] {
  const found = [initHostPid];
  for (const hostPid of found) found.push(...childrenOf(hostPid));
  return found;
}

/** Returns the resident memory of a session's processes, in bytes. */
export function treeMemoryBytes(initHostPid: number): number {
  return listProcesses(initHostPid).reduce((sum, process) => sum + process.memoryBytes, 0);
}

/**
 * Ends a session's processes, and resolves when they are gone.
 *
 * The end of PID 1 ends its whole PID namespace. Succeeds when it has ended already; a process
 * that has got the same number since is told apart by its start time and left alone.
 *
 * @throws DEADLINE_EXCEEDED  they do not end: one waits in the kernel, or has a tracer outside that
 * holds it.
 */
export async function killTree(initHostPid: number, expectedStartTicks: number): Promise<void> {
  if (startTicks(initHostPid) !== expectedStartTicks) return;
  killProcess(initHostPid);
  let looks = 0;
  await pollUntil(
    `process ${initHostPid} to end`,
    { timeoutMs: END_TIMEOUT_MS, intervalMs: 1 },
    () => {
      if (hasEnded(initHostPid, expectedStartTicks)) return true;
      looks += 1;
      // A tracer can hold PID 1 at its end, before that has ended the others: the tracer among them.
      if (looks % LOOKS_UNTIL_ALL === 0) haltTree(initHostPid, expectedStartTicks);
      return undefined;
    },
  );
}

/**
 * Lets none of a session's processes go on, without waiting until they have given their memory
 * back, which takes a tenth of a second for a gigabyte. {@link killTree} waits for the rest.
 */
export function haltTree(initHostPid: number, expectedStartTicks: number): void {
  if (startTicks(initHostPid) !== expectedStartTicks) return;
  // Children first, so that none of them sees another end.
  for (const { hostPid, state } of listProcesses(initHostPid).toReversed()) {
    killProcess(hostPid);
    if (state === "D" && hasFrozenGroup(hostPid)) leaveFrozenGroup(hostPid);
  }
}

const UPPER_OPTION = "upperdir=";

/** Lists the PID 1 of every session whose root overlay has this upper directory. */
export function findInitsByUpper(upperDir: string): number[] {
  return findInits((upper) => upper === upperDir);
}

/** Lists the PID 1 of every session whose root overlay has its upper directory below this one. */
export function findInitsBelow(directory: string): number[] {
  return findInits((upper) => upper.startsWith(`${directory}/`));
}

function findInits(isWanted: (upperDir: string) => boolean): number[] {
  return hostPids().filter((hostPid) => {
    const mounts = parseMountInfo(readProc(hostPid, "mountinfo") ?? "");
    const upperDir = upperDirOf(mounts.find(({ mountPoint }) => mountPoint === "/"));
    return upperDir !== undefined && isWanted(upperDir) && innerPid(hostPid) === 1;
  });
}

function upperDirOf(root: MountEntry | undefined): string | undefined {
  const named = root?.filesystemOptions.find((option) => option.startsWith(UPPER_OPTION));
  return named?.slice(UPPER_OPTION.length);
}

function hasEnded(hostPid: number, expectedStartTicks: number): boolean {
  const stat = readProc(hostPid, "stat");
  if (stat === null) return true;
  const fields = fieldsAfterName(stat);
  // A zombie has left its namespaces; whoever is its parent will collect it.
  return fields[0] === "Z" || Number(fields[19]) !== expectedStartTicks;
}

function readProcess(hostPid: number, parentPid: number, bootedAtMs: number): TreeProcess | null {
  const stat = readProc(hostPid, "stat");
  const status = readProc(hostPid, "status");
  if (stat === null || status === null) return null;
  const fields = fieldsAfterName(stat);
  const commandLine = readProc(hostPid, "cmdline")?.replaceAll("\0", " ").trim();
  const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
  return {
    hostPid,
    parentPid,
    pid: innerPidOf(status) ?? hostPid,
    uid: Number(/^Uid:\s+(\d+)/m.exec(status)?.[1] ?? 0),
    state: fields[0] ?? "?",
    threadCount: Number(fields[17] ?? 0),
    memoryBytes: Number(fields[21] ?? 0) * PAGE_BYTES,
    startedAtMs: bootedAtMs + (Number(fields[19]) / CLOCK_TICKS_PER_SECOND) * 1000,
    command: commandLine === undefined || commandLine === "" ? `[${name}]` : commandLine,
  };
}

function innerPid(hostPid: number): number | null {
  return innerPidOf(readProc(hostPid, "status") ?? "");
}

function childrenOf(hostPid: number): number[] {
  try {
    return readdirSync(`/proc/${hostPid}/task`).flatMap((thread) =>
      parseChildren(readFileSync(`/proc/${hostPid}/task/${thread}/children`, "utf8")),
    );
  } catch {
    return []; // It ended while it was being read.
  }
}

function hostPids(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** The name in parentheses may hold spaces, so fields are counted after it: state is the first. */
function fieldsAfterName(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function uptimeMs(): number {
  return Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) * 1000;
}

function readProc(hostPid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${hostPid}/${file}`, "utf8");
  } catch {
    return null;
  }
}
