import { readFileSync, readlinkSync } from "node:fs";
import { open } from "node:fs/promises";
import type { ProcessFacts } from "../../base/index.ts";
import { type LiveConnection, type LiveListener, readLiveSockets } from "./live-sockets.ts";
import { listProcesses, type TreeProcess } from "./process-tree.ts";

/** The processes of a live session, parents before children, and their sockets. */
export interface LiveTree {
  tasks: ProcessFacts[];
  listeners: LiveListener[];
  connections: LiveConnection[];
}

/** A process of a live session, with its id on the host. */
interface LiveTask extends ProcessFacts {
  hostPid: number;
  /** Where the file of its program can be opened, also when it has another name by now. */
  programFile: string;
}

/** A stretch of a process's memory. */
export interface LiveStretch {
  address: number;
  bytes: Buffer;
}

const AT_RANDOM = 25n;
const RANDOM_BYTES = 16;
/** A process that has more memory of its own is not read as a whole. */
const WHOLE_BYTES_MAX = 64 * 1024 * 1024;

/** Reads what runs in a session now; what ends meanwhile is left out. */
export async function readProcessPicture(initHostPid: number): Promise<LiveTree> {
  const processes = listProcesses(initHostPid).filter(isRunning);
  return { tasks: await readTasks(processes), ...readLiveSockets(processes) };
}

/**
 * Reads what runs in a session now, without its sockets.
 *
 * @throws Error  there are more than `countMax` processes.
 */
export async function readLiveTasks(initHostPid: number, countMax: number): Promise<LiveTask[]> {
  const processes = listProcesses(initHostPid, countMax + 1);
  if (processes.length > countMax) throw new Error(`it has more than ${countMax} processes`);
  return await readTasks(processes.filter(isRunning));
}

/**
 * Returns the memory that a live process of a session has of its own.
 *
 * It is not stopped for this: what it changes meanwhile is read half before, half after.
 *
 * @throws Error  it has ended, or has too much.
 */
export async function readLiveMemory(initHostPid: number, pid: number): Promise<LiveStretch[]> {
  const process = listProcesses(initHostPid).find((each) => each.pid === pid);
  if (process === undefined) throw new Error(`process ${pid} has ended`);
  return await readProcessMemory(process.hostPid, WHOLE_BYTES_MAX);
}

/**
 * Returns the memory that a process, named by its id on the host, has of its own.
 *
 * @throws Error  it has ended, or has more than `bytesMax`.
 */
export async function readProcessMemory(hostPid: number, bytesMax: number): Promise<LiveStretch[]> {
  const areas = readAreas(hostPid).filter(({ isOwn }) => isOwn);
  const sizeBytes = areas.reduce((sum, { start, end }) => sum + end - start, 0);
  if (sizeBytes > bytesMax) {
    throw new Error(`the process has ${sizeBytes} bytes of memory, too many to look into`);
  }
  await using memory = await open(`/proc/${hostPid}/mem`);
  const stretches: LiveStretch[] = [];
  for (const { start, end } of areas) {
    const bytes = Buffer.alloc(end - start);
    const { bytesRead } = await memory.read(bytes, 0, bytes.length, start);
    stretches.push({ address: start, bytes: bytes.subarray(0, bytesRead) });
  }
  return stretches;
}

function isRunning({ state }: TreeProcess): boolean {
  return state !== "Z" && state !== "X";
}

async function readTasks(processes: readonly TreeProcess[]): Promise<LiveTask[]> {
  const tasks: LiveTask[] = [];
  for (const process of processes) {
    const task = await readTask(process);
    if (task !== null) tasks.push(task);
  }
  return tasks;
}

async function readTask(process: TreeProcess): Promise<LiveTask | null> {
  const { hostPid, pid, parentPid, command, uid } = process;
  try {
    const programFile = `/proc/${hostPid}/exe`;
    const programPath = readlinkSync(programFile);
    const status = readFileSync(`/proc/${hostPid}/status`, "utf8");
    const field = (name: string) =>
      new RegExp(`^${name}:.*?(\\d+)(?: kB)?$`, "m").exec(status)?.[1];
    const area = readAreas(hostPid).find(
      ({ file, offset }) => file === programPath && offset === 0,
    );
    return {
      ...{ hostPid, pid, parentPid, command, uid, programFile },
      leadsTerminal: Number(field("NSsid")) === pid && hasTerminal(hostPid),
      programId: await readProgramId(hostPid),
      cwd: readlinkSync(`/proc/${hostPid}/cwd`).replace(/ \(deleted\)$/, ""),
      memoryBytes: Number(field("RssAnon") ?? 0) * 1024,
      program: area === undefined ? null : { path: programPath, address: area.start },
      startEnvironment: parentPid === 1 ? readStartEnvironment(hostPid) : [],
    };
  } catch {
    return null; // It ended while it was being read.
  }
}

/** The fifth field after the name is the number of its terminal. */
function hasTerminal(hostPid: number): boolean {
  const stat = readFileSync(`/proc/${hostPid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[4] !== "0";
}

function readStartEnvironment(hostPid: number): string[] {
  const text = readFileSync(`/proc/${hostPid}/environ`, "utf8");
  return text.split("\0").filter((variable) => variable !== "");
}

async function readProgramId(hostPid: number): Promise<string> {
  const auxv = readFileSync(`/proc/${hostPid}/auxv`);
  for (let at = 0; at + 16 <= auxv.length; at += 16) {
    if (auxv.readBigUInt64LE(at) !== AT_RANDOM) continue;
    await using memory = await open(`/proc/${hostPid}/mem`);
    const bytes = Buffer.alloc(RANDOM_BYTES);
    await memory.read(bytes, 0, RANDOM_BYTES, Number(auxv.readBigUInt64LE(at + 8)));
    return bytes.toString("hex");
  }
  return "";
}

interface Area {
  start: number;
  end: number;
  offset: number;
  file: string;
  /** It can be written and is shared with nobody. */
  isOwn: boolean;
}

function readAreas(hostPid: number): Area[] {
  return readFileSync(`/proc/${hostPid}/maps`, "utf8")
    .split("\n")
    .flatMap((line) => {
      const found = /^(\w+)-(\w+) (\S+) (\w+) \S+ \d+\s*(.*)$/.exec(line);
      if (found === null) return [];
      const [, start = "", end = "", rights = "", offset = "", file = ""] = found;
      return [
        {
          start: Number.parseInt(start, 16),
          end: Number.parseInt(end, 16),
          offset: Number.parseInt(offset, 16),
          file,
          isOwn: rights.startsWith("rw") && rights.endsWith("p"),
        },
      ];
    });
}
