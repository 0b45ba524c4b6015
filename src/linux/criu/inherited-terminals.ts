import { messageField, numberField, type WireMessage } from "../../formats/criu-images/index.ts";
import { readEntries } from "./read-image-processes.ts";

/** A terminal that a session's leader has. */
export interface InheritedTerminal {
  /** Inside the session, as `holderPid`. */
  leaderPid: number;
  /** N of `/dev/pts/N`. */
  index: number;
  /** The process that opens the other side when it is restored. */
  holderPid: number;
}

interface Master {
  /** Of the terminal, in the images. */
  id: number;
  index: number;
  leaderPid: number;
  /** Filesystem that it is in. */
  device: number;
}

const FIRST_PID = 1;
/** CRIU tries so many numbers when it looks for that of a terminal. */
const INDEX_SPAN_MAX = 32;
/** Number of the device `/dev/ptmx`: major 5, minor 2. */
const MASTER_DEVICE = 0x502;
// tty_info_entry, tty_pty_entry
const TERMINAL_ID = 1;
const TERMINAL_SESSION = 6;
const TERMINAL_DEVICE = 8;
const TERMINAL_PTY = 12;
const TERMINAL_FILESYSTEM = 13;
const PTY_INDEX = 1;
// pstree_entry
const PSTREE_PID = 1;
const PSTREE_SESSION = 4;
// task_kobj_ids_entry, fdinfo_entry, file_entry, tty_file_entry
const IDS_FILES = 2;
const FDINFO_FILE = 1;
const FILE_ID = 2;
const FILE_TERMINAL = 19;
const TERMINAL_FILE_INFO = 2;

/**
 * Returns the terminals, by index, that `native/criu-preload/terminal-preload.c` gives to all processes of their
 * sessions: none where each terminal's leader is alone in its session, as a shell is most often.
 *
 * All or none of those whose other sides one process holds, since that one is not told which to open.
 *
 * @throws CHECKPOINT_INCOMPLETE  an image is missing or cannot be read.
 */
export async function findInheritedTerminals(imagesDir: string): Promise<InheritedTerminal[]> {
  const terminals = await readEntries(imagesDir, "tty-info.img", "ttyInfo").catch(() => []);
  const masters = terminals.flatMap(toMaster);
  const tree = await readEntries(imagesDir, "pstree.img", "pstree");
  if (!masters.some(({ leaderPid }) => hasFollowers(leaderPid, tree))) return [];
  const holders = await findHolders(imagesDir, masters, tree);
  const device = holders.get(FIRST_PID)?.[0]?.device;
  return [...holders]
    .filter(([, held]) => held.every((master) => master.device === device))
    .filter(([, held]) => held.every(({ leaderPid }) => isInTree(leaderPid, tree)))
    .filter(([, held]) => indexSpan(held) < INDEX_SPAN_MAX)
    .filter(([, held]) => held.some(({ leaderPid }) => hasFollowers(leaderPid, tree)))
    .flatMap(([holderPid, held]) =>
      held.map(({ leaderPid, index }) => ({ leaderPid, index, holderPid })),
    )
    .sort((one, other) => one.index - other.index);
}

function toMaster(terminal: WireMessage): Master[] {
  const pty = messageField(terminal, TERMINAL_PTY);
  if (pty === undefined || numberField(terminal, TERMINAL_DEVICE) !== MASTER_DEVICE) return [];
  return [
    {
      id: numberField(terminal, TERMINAL_ID),
      index: numberField(pty, PTY_INDEX),
      leaderPid: numberField(terminal, TERMINAL_SESSION),
      device: numberField(terminal, TERMINAL_FILESYSTEM),
    },
  ];
}

/** Whether others than its leader are in a session. */
function hasFollowers(leaderPid: number, tree: readonly WireMessage[]): boolean {
  return tree.some(
    (entry) =>
      numberField(entry, PSTREE_SESSION) === leaderPid &&
      numberField(entry, PSTREE_PID) !== leaderPid,
  );
}

function isInTree(pid: number, tree: readonly WireMessage[]): boolean {
  return tree.some((entry) => numberField(entry, PSTREE_PID) === pid);
}

function indexSpan(masters: readonly Master[]): number {
  const indices = masters.map(({ index }) => index);
  return Math.max(...indices) - Math.min(...indices);
}

/** Returns which terminals each process opens: of those that hold one, that with the lowest id does. */
async function findHolders(
  imagesDir: string,
  masters: readonly Master[],
  tree: readonly WireMessage[],
): Promise<Map<number, Master[]>> {
  const masterOfFile = await readMasterFiles(imagesDir, masters);
  const holders = new Map<number, Master[]>();
  const missing = new Set(masters);
  const pids = tree.map((entry) => numberField(entry, PSTREE_PID)).sort((a, b) => a - b);
  for (const pid of pids) {
    if (missing.size === 0) break;
    const open = await readOpenFiles(imagesDir, pid);
    const held = new Set(open.flatMap((id) => masterOfFile.get(id) ?? []));
    const found = [...held].filter((master) => missing.delete(master));
    if (found.length > 0) holders.set(pid, found);
  }
  return holders;
}

/** Returns the terminal of each open file that is the other side of one. */
async function readMasterFiles(
  imagesDir: string,
  masters: readonly Master[],
): Promise<Map<number, Master>> {
  const files = await readEntries(imagesDir, "files.img", "files");
  return new Map(
    files.flatMap((file) => {
      const terminal = messageField(file, FILE_TERMINAL);
      if (terminal === undefined) return [];
      const master = masters.find(({ id }) => id === numberField(terminal, TERMINAL_FILE_INFO));
      return master === undefined ? [] : [[numberField(file, FILE_ID), master] as const];
    }),
  );
}

/** Returns the ids of the files that a process has open; none of one that has ended. */
async function readOpenFiles(imagesDir: string, pid: number): Promise<number[]> {
  const [ids] = await readEntries(imagesDir, `ids-${pid}.img`, "ids").catch(() => []);
  if (ids === undefined) return [];
  const open = await readEntries(imagesDir, `fdinfo-${numberField(ids, IDS_FILES)}.img`, "fdinfo");
  return open.map((entry) => numberField(entry, FDINFO_FILE));
}
