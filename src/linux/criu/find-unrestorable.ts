import {
  messageField,
  numberField,
  stringField,
  type WireMessage,
} from "../../formats/criu-images/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { findLostFlight } from "./find-unrestorable-flight.ts";
import { findReplaced } from "./find-unrestorable-removed.ts";
import { readEntries, readImageProcesses } from "./read-image-processes.ts";
import { readOpenFiles } from "./read-open-files.ts";

/** A process that CRIU has dumped and would not bring back. */
export interface Unrestorable {
  reason: "memory_program" | "orphan" | "thread_file" | "in_flight" | "replaced" | "path_only";
  /** Inside the session. */
  pid: number;
  resource: string;
  /** What follows "Process 12 (node)". */
  predicate: string;
  hint: string;
}

// pstree_entry
const PSTREE_PID = 1;
const PSTREE_PARENT_PID = 2;
const PSTREE_SESSION = 4;
// file_entry, reg_file_entry
const FILE_ID = 2;
const FILE_REGULAR = 3;
const FILE_MEMFD = 20;
const REGULAR_NAME = 6;
const FILE_PIPE = 18;
const FILE_TERMINAL = 19;
// pipe_entry, tty_file_entry
const PIPE_FLAGS = 3;
const TERMINAL_FLAGS = 3;
// mm_entry
const MEMORY_PROGRAM_FILE = 12;

/** A flag of open(2) that Node does not name. */
const O_PATH = 0o10000000;

const THREAD_FILE = /^\/proc\/(\d+)\/task\/\d+\//;

/**
 * Looks in fresh images for what CRIU writes down without complaint and then does not restore.
 *
 * Reads two small files, and others only where there is something to look for in them.
 *
 * @param treeRoot  the root directory of the tree, as it is now
 * @see docs/notes/criu/README.md
 */
export async function findUnrestorable(
  imagesDir: string,
  treeRoot: string,
): Promise<Unrestorable | null> {
  const tree = await readEntries(imagesDir, "pstree.img", "pstree");
  const files = await readEntries(imagesDir, "files.img", "files");
  const pids = tree.map((entry) => numberField(entry, PSTREE_PID));
  return (
    findOrphan(tree) ??
    findThreadFile(files) ??
    (await findMemoryProgram(imagesDir, tree, files)) ??
    (await findPathOnly(imagesDir, pids, files)) ??
    (await findLostFlight(imagesDir, pids, files)) ??
    (await findReplaced(imagesDir, treeRoot, { pids, files }))
  );
}

/** Returns the error for it, which names the process; the tree runs on all the same. */
export async function toUnrestorableError(
  { reason, pid, resource, predicate, hint }: Unrestorable,
  imagesDir: string,
): Promise<WaypointError> {
  const processes = await readImageProcesses(imagesDir);
  const processName = processes.find((process) => process.pid === pid)?.command ?? null;
  const who = `Process ${pid}${processName === null ? "" : ` (${processName})`}`;
  return new WaypointError("CRIU_DUMP_FAILED", `${who} ${predicate}`, {
    hint,
    detail: { reason, pid, processName, resource, criuErrors: [] },
  });
}

/**
 * A process that has outlived its session's leader is given its session back only below the first
 * process, not below one that adopts orphans itself.
 */
export function findOrphan(tree: readonly WireMessage[]): Unrestorable | null {
  const byPid = new Map(tree.map((entry) => [numberField(entry, PSTREE_PID), entry]));
  const parentOf = (entry: WireMessage) => byPid.get(numberField(entry, PSTREE_PARENT_PID));
  for (const entry of tree) {
    const pid = numberField(entry, PSTREE_PID);
    const session = numberField(entry, PSTREE_SESSION);
    const parent = parentOf(entry);
    if (parent === undefined || session === pid || session === numberField(parent, PSTREE_SESSION))
      continue;
    if (numberField(parent, PSTREE_PARENT_PID) === 0) continue;
    let above: WireMessage | undefined = parent;
    while (above !== undefined && numberField(above, PSTREE_PID) !== session)
      above = parentOf(above);
    if (above !== undefined) continue;
    return {
      reason: "orphan",
      pid,
      resource: `session ${session}`,
      predicate: `was adopted by process ${numberField(parent, PSTREE_PID)} as a subreaper when the leader of its session ended, which cannot be restored.`,
      hint: "End it, or start it so that its session's leader lives on.",
    };
  }
  return null;
}

/** CRIU opens files of other threads before there are other threads. */
export function findThreadFile(files: readonly WireMessage[]): Unrestorable | null {
  for (const file of files) {
    const regular = messageField(file, FILE_REGULAR);
    const name = (regular && stringField(regular, REGULAR_NAME)) ?? "";
    const match = THREAD_FILE.exec(name);
    if (match === null) continue;
    return {
      reason: "thread_file",
      pid: Number(match[1]),
      resource: name,
      predicate: `is watched through ${name}, a file of one of its threads, which cannot be restored.`,
      hint: "Let the program that looks at threads close that file, or end it.",
    };
  }
  return null;
}

/** CRIU opens a terminal or a pipe and then sets what a path only does not have. */
async function findPathOnly(
  imagesDir: string,
  pids: readonly number[],
  files: readonly WireMessage[],
): Promise<Unrestorable | null> {
  const ids = files.filter(isPathOnly).map((file) => numberField(file, FILE_ID));
  if (ids.length === 0) return null;
  const open = await readOpenFiles(imagesDir, pids);
  const held = open.find(({ id }) => ids.includes(id));
  if (held === undefined) return null;
  return {
    reason: "path_only",
    pid: held.pid,
    resource: `terminal or pipe (descriptor ${held.descriptor})`,
    predicate: `has a terminal or a pipe open as a path only (O_PATH) (descriptor ${held.descriptor}), which cannot be restored.`,
    hint: "Let the program close it, or end it.",
  };
}

/** Whether a file is a terminal or a pipe that was opened as a path only. */
export function isPathOnly(file: WireMessage): boolean {
  const pipe = messageField(file, FILE_PIPE);
  const terminal = messageField(file, FILE_TERMINAL);
  const flags =
    (pipe === undefined ? 0 : numberField(pipe, PIPE_FLAGS)) |
    (terminal === undefined ? 0 : numberField(terminal, TERMINAL_FLAGS));
  return (flags & O_PATH) !== 0;
}

/** A program that was started from a memfd has no file that CRIU could start it from. */
async function findMemoryProgram(
  imagesDir: string,
  tree: readonly WireMessage[],
  files: readonly WireMessage[],
): Promise<Unrestorable | null> {
  const memfds = new Set(
    files.filter((file) => file.has(FILE_MEMFD)).map((file) => numberField(file, FILE_ID)),
  );
  if (memfds.size === 0) return null;
  for (const entry of tree) {
    const pid = numberField(entry, PSTREE_PID);
    // A zombie has no memory any more, and no image of it.
    const [memory] = await readEntries(imagesDir, `mm-${pid}.img`, "mm").catch(() => []);
    if (memory === undefined || !memfds.has(numberField(memory, MEMORY_PROGRAM_FILE))) continue;
    return {
      reason: "memory_program",
      pid,
      resource: "program in a memfd",
      predicate: "runs a program that lies in memory only (a memfd), which cannot be restored.",
      hint: "Start that program from a file.",
    };
  }
  return null;
}
