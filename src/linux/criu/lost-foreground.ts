import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { numberField, type WireMessage, withImageFields } from "../../formats/criu-images/index.ts";
import { readEntries } from "./read-image-processes.ts";

const TERMINALS = "tty-info.img";
// tty_info_entry
const TERMINAL_SESSION = 6;
const TERMINAL_FOREGROUND = 7;
// pstree_entry
const PSTREE_PID = 1;
const PSTREE_GROUP = 3;

/**
 * Gives terminals back to their shells in fresh images, where the process group in the foreground has
 * no process any more: the shell has collected a program's end, and has not taken the terminal back
 * yet. It is what the shell does next, and CRIU would fail to restore such a terminal.
 *
 * @throws CHECKPOINT_INCOMPLETE  an image is missing or cannot be read.
 */
export async function giveTerminalsBack(imagesDir: string): Promise<void> {
  const tree = await readEntries(imagesDir, "pstree.img", "pstree");
  const path = join(imagesDir, TERMINALS);
  // A tree without a terminal has no such image.
  const file = await readFile(path).catch(() => null);
  if (file === null) return;
  const mended = withoutLostForeground(file, tree);
  if (!mended.equals(file)) await writeFile(path, mended);
}

/** Returns the image of terminals with groups that exist in the foreground. */
export function withoutLostForeground(file: Buffer, tree: readonly WireMessage[]): Buffer {
  const groups = new Map(
    tree.map((entry) => [numberField(entry, PSTREE_PID), numberField(entry, PSTREE_GROUP)]),
  );
  const living = new Set(groups.values());
  return withImageFields(file, "ttyInfo", (terminal) => {
    const foreground = numberField(terminal, TERMINAL_FOREGROUND);
    if (foreground === 0 || living.has(foreground)) return undefined;
    const group = groups.get(numberField(terminal, TERMINAL_SESSION));
    return group === undefined ? undefined : [[TERMINAL_FOREGROUND, [group]]];
  });
}
