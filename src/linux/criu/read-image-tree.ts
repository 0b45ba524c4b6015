import type { ProcessFacts } from "../../base/index.ts";
import {
  messageField,
  messageFields,
  numberField,
  numberFields,
  stringField,
  type WireMessage,
} from "../../formats/criu-images/index.ts";
import {
  connectionOf,
  type ImageConnection,
  type ImageListener,
  listenerOf,
} from "./describe-sockets.ts";
import { ProcessMemory } from "./image-memory.ts";
import { readEntries } from "./read-image-processes.ts";

/** The processes of an image directory, parents before children, and their sockets. */
export interface ImageTree {
  tasks: ProcessFacts[];
  listeners: (ImageListener & { pid: number | null })[];
  connections: (ImageConnection & { pid: number | null })[];
}

// pstree_entry
const PSTREE_PID = 1;
const PSTREE_PARENT_PID = 2;
// tty_info_entry
const TERMINAL_SESSION = 6;
// core_entry, task_core_entry, thread_core_entry, creds_entry
const CORE_TASK = 3;
const CORE_THREAD = 5;
const TASK_STATE = 1;
const TASK_COMMAND = 6;
const THREAD_CREDENTIALS = 10;
const CREDENTIALS_UID = 1;
// task_kobj_ids_entry, fdinfo_entry, file_entry, reg_file_entry, fs_entry
const IDS_FILES = 2;
const FDINFO_FILE = 1;
const FILE_ID = 2;
const FILE_REGULAR = 3;
const REGULAR_NAME = 6;
const FS_CWD = 1;
// mm_entry, vma_entry
const MM = {
  argStart: 8,
  argEnd: 9,
  envStart: 10,
  envEnd: 11,
  exe: 12,
  auxv: 13,
  areas: 14,
} as const;
const AREA_START = 1;
const AREA_OFFSET = 3;
const AREA_FILE = 4;

/** compel's names of states: these have neither memory nor files any more. */
const DEAD_STATES: readonly number[] = [2, 6];
const AT_RANDOM = 25;
const RANDOM_BYTES = 16;
/** Longest command line and environment that are read. */
const STRINGS_BYTES_MAX = 256 * 1024;

/**
 * Returns what the images tell of the processes and their sockets.
 *
 * @throws CHECKPOINT_INCOMPLETE | Error  an image is missing or cannot be read.
 */
export async function readImageTree(imagesDir: string): Promise<ImageTree> {
  const files = await readEntries(imagesDir, "files.img", "files");
  const paths = new Map(
    files.flatMap((file): [number, string][] => {
      const name = messageField(file, FILE_REGULAR);
      const path = name === undefined ? undefined : stringField(name, REGULAR_NAME);
      return path === undefined ? [] : [[numberField(file, FILE_ID), path]];
    }),
  );
  const terminals = await readEntries(imagesDir, "tty-info.img", "ttyInfo");
  const leaders = new Set(terminals.map((each) => numberField(each, TERMINAL_SESSION)));
  const tasks: ProcessFacts[] = [];
  const owners = new Map<number, number>();
  for (const entry of await readEntries(imagesDir, "pstree.img", "pstree")) {
    const pid = numberField(entry, PSTREE_PID);
    const [core] = await readEntries(imagesDir, `core-${pid}.img`, "core");
    const task = core === undefined ? undefined : messageField(core, CORE_TASK);
    if (core === undefined || task === undefined) continue;
    if (DEAD_STATES.includes(numberField(task, TASK_STATE))) continue;
    tasks.push(await readTask(imagesDir, { entry, core, task, paths, leaders }));
    for (const fileId of await openFiles(imagesDir, pid)) {
      if (!owners.has(fileId)) owners.set(fileId, pid);
    }
  }
  const withOwner = <T>(found: T | null, file: WireMessage) =>
    found === null ? [] : [{ ...found, pid: owners.get(numberField(file, FILE_ID)) ?? null }];
  return {
    tasks,
    listeners: files.flatMap((file) => withOwner(listenerOf(file), file)),
    connections: files.flatMap((file) => withOwner(connectionOf(file), file)),
  };
}

interface TaskImages {
  entry: WireMessage;
  core: WireMessage;
  task: WireMessage;
  /** Paths of regular files and directories by their id. */
  paths: ReadonlyMap<number, string>;
  /** Those with a terminal of their own. */
  leaders: ReadonlySet<number>;
}

async function readTask(imagesDir: string, images: TaskImages): Promise<ProcessFacts> {
  const { entry, core, task, paths, leaders } = images;
  const pid = numberField(entry, PSTREE_PID);
  const parentPid = numberField(entry, PSTREE_PARENT_PID);
  const [[mm], [fs]] = await Promise.all([
    readEntries(imagesDir, `mm-${pid}.img`, "mm"),
    readEntries(imagesDir, `fs-${pid}.img`, "fs"),
  ]);
  if (mm === undefined || fs === undefined)
    throw new Error(`the images of process ${pid} are empty`);
  const thread = messageField(core, CORE_THREAD);
  const credentials = thread === undefined ? undefined : messageField(thread, THREAD_CREDENTIALS);
  await using memory = await ProcessMemory.open(imagesDir, pid);
  const command = await readCommand(memory, mm);
  return {
    pid,
    parentPid,
    leadsTerminal: leaders.has(pid),
    command: command === "" ? `[${stringField(task, TASK_COMMAND) ?? ""}]` : command,
    programId: await readProgramId(memory, mm),
    cwd: paths.get(numberField(fs, FS_CWD)) ?? null,
    uid: credentials === undefined ? 0 : numberField(credentials, CREDENTIALS_UID),
    memoryBytes: memory.sizeBytes,
    program: findProgram(mm, paths),
    startEnvironment: parentPid === 1 ? await readStartEnvironment(memory, mm) : [],
  };
}

/** As the kernel does for `/proc/PID/cmdline`: a program may have written its own title there. */
async function readCommand(memory: ProcessMemory, mm: WireMessage): Promise<string> {
  const [start, end, envEnd] = [MM.argStart, MM.argEnd, MM.envEnd].map((field) =>
    numberField(mm, field),
  ) as [number, number, number];
  const bytes = await memory.read(start, Math.min(end - start, STRINGS_BYTES_MAX));
  if (bytes.length === 0) return "";
  const isTitle = end - start === bytes.length && bytes.at(-1) !== 0;
  const text = isTitle
    ? (await memory.read(start, Math.min(envEnd - start, STRINGS_BYTES_MAX)))
        .toString("utf8")
        .replace(/\0.*$/s, "")
    : bytes.toString("utf8");
  return text.replaceAll("\0", " ").trim();
}

async function readStartEnvironment(memory: ProcessMemory, mm: WireMessage): Promise<string[]> {
  const start = numberField(mm, MM.envStart);
  const sizeBytes = Math.min(numberField(mm, MM.envEnd) - start, STRINGS_BYTES_MAX);
  const text = (await memory.read(start, sizeBytes)).toString("utf8");
  return text.split("\0").filter((variable) => variable !== "");
}

async function readProgramId(memory: ProcessMemory, mm: WireMessage): Promise<string> {
  const auxv = numberFields(mm, MM.auxv);
  const index = auxv.findIndex((value, at) => at % 2 === 0 && value === AT_RANDOM);
  const address = index === -1 ? 0 : (auxv[index + 1] ?? 0);
  return (await memory.read(address, RANDOM_BYTES)).toString("hex");
}

function findProgram(mm: WireMessage, paths: ReadonlyMap<number, string>): ProcessFacts["program"] {
  const fileId = numberField(mm, MM.exe);
  const path = paths.get(fileId);
  const area = messageFields(mm, MM.areas).find(
    (each) => numberField(each, AREA_FILE) === fileId && numberField(each, AREA_OFFSET) === 0,
  );
  if (path === undefined || area === undefined) return null;
  return { path, address: numberField(area, AREA_START) };
}

/** Returns the ids of the files that a process has open. */
async function openFiles(imagesDir: string, pid: number): Promise<number[]> {
  const [ids] = await readEntries(imagesDir, `ids-${pid}.img`, "ids");
  const tableId = ids === undefined ? 0 : numberField(ids, IDS_FILES);
  const entries = await readEntries(imagesDir, `fdinfo-${tableId}.img`, "fdinfo");
  return entries.map((entry) => numberField(entry, FDINFO_FILE));
}
