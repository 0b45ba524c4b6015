import { messageField, numberField, type WireMessage } from "./image-format.ts";
import { readEntries } from "./read-image-processes.ts";

/** A terminal that a session's leader has, and other processes of that session with it. */
export interface InheritedTerminal {
  /** Inside the session. */
  leaderPid: number;
  /** N of `/dev/pts/N`. */
  index: number;
}

const FIRST_PID = 1;
/** Number of the device `/dev/ptmx`: major 5, minor 2. */
const MASTER_DEVICE = 0x502;
// tty_info_entry, tty_pty_entry
const TERMINAL_ID = 1;
const TERMINAL_SESSION = 6;
const TERMINAL_DEVICE = 8;
const TERMINAL_PTY = 12;
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
 * Returns the terminal whose session has further processes, if the first process holds the other side
 * of just one; `native/terminal-preload.c` gives it to all of them.
 *
 * @throws CHECKPOINT_INCOMPLETE  an image is missing or cannot be read.
 */
export async function findInheritedTerminal(imagesDir: string): Promise<InheritedTerminal | null> {
  const terminals = await readEntries(imagesDir, "tty-info.img", "ttyInfo").catch(() => []);
  const masters = terminals.filter((each) => numberField(each, TERMINAL_DEVICE) === MASTER_DEVICE);
  const tree = await readEntries(imagesDir, "pstree.img", "pstree");
  // Most often only a shell is there, which has its terminal to itself.
  if (!masters.some((master) => hasFollowers(master, tree))) return null;
  const held = await heldByFirst(imagesDir, masters);
  const [master] = held;
  if (master === undefined || held.length > 1 || !hasFollowers(master, tree)) return null;
  const pty = messageField(master, TERMINAL_PTY);
  if (pty === undefined) return null;
  return { leaderPid: numberField(master, TERMINAL_SESSION), index: numberField(pty, PTY_INDEX) };
}

/** Whether others than its leader are in a terminal's session. */
function hasFollowers(terminal: WireMessage, tree: readonly WireMessage[]): boolean {
  const leader = numberField(terminal, TERMINAL_SESSION);
  return tree.some(
    (entry) =>
      numberField(entry, PSTREE_SESSION) === leader && numberField(entry, PSTREE_PID) !== leader,
  );
}

/** Returns those terminals whose other side the first process has open. */
async function heldByFirst(
  imagesDir: string,
  masters: readonly WireMessage[],
): Promise<WireMessage[]> {
  const [ids] = await readEntries(imagesDir, `ids-${FIRST_PID}.img`, "ids");
  const tableId = ids === undefined ? 0 : numberField(ids, IDS_FILES);
  const open = await readEntries(imagesDir, `fdinfo-${tableId}.img`, "fdinfo");
  const openIds = new Set(open.map((entry) => numberField(entry, FDINFO_FILE)));
  const files = await readEntries(imagesDir, "files.img", "files");
  const heldIds = new Set(
    files
      .filter((file) => openIds.has(numberField(file, FILE_ID)))
      .flatMap((file) => messageField(file, FILE_TERMINAL) ?? [])
      .map((terminal) => numberField(terminal, TERMINAL_FILE_INFO)),
  );
  return masters.filter((master) => heldIds.has(numberField(master, TERMINAL_ID)));
}
