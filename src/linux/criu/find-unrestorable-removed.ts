import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isSystemError } from "../../base/index.ts";
import {
  messageField,
  numberField,
  stringField,
  type WireMessage,
} from "../../formats/criu-images/index.ts";
import type { Unrestorable } from "./find-unrestorable.ts";
import { readEntries, readFirstEntry } from "./read-image-processes.ts";
import { readOpenFiles } from "./read-open-files.ts";

// remap_file_path_entry, ghost_file_entry, file_entry, reg_file_entry, fs_entry
const REMAP_FILE = 1;
const REMAP_GHOST = 2;
const REMAP_KIND = 3;
const KIND_GHOST = 1;
const GHOST_MODE = 3;
const FILE_ID = 2;
const FILE_REGULAR = 3;
const REGULAR_NAME = 6;
const FS_CWD = 1;
const FS_ROOT = 2;

const MODE_KIND = 0o170000;
const MODE_DIRECTORY = 0o040000;

/**
 * Looks for removed files and directories that are still open, and whose path something else has
 * taken: CRIU makes them again at that path for a moment, below directories that it makes where they
 * are missing, and removes them.
 *
 * @param treeRoot  the root directory of the tree, whose files are those of the images
 */
export async function findReplaced(
  imagesDir: string,
  treeRoot: string,
  { pids, files }: { pids: readonly number[]; files: readonly WireMessage[] },
): Promise<Unrestorable | null> {
  const remaps = await readEntries(imagesDir, "remap-fpath.img", "remapFpath").catch(() => []);
  for (const remap of remaps) {
    if (numberField(remap, REMAP_KIND) !== KIND_GHOST) continue;
    const id = numberField(remap, REMAP_FILE);
    const path = pathOf(id, files);
    if (path === undefined) continue;
    const ghost = `ghost-file-${numberField(remap, REMAP_GHOST).toString(16)}.img`;
    const entry = await readFirstEntry(imagesDir, ghost, "ghostFile");
    const isDirectory = (numberField(entry, GHOST_MODE) & MODE_KIND) === MODE_DIRECTORY;
    const taken = findTaken(treeRoot, path, isDirectory);
    if (taken === null) continue;
    return {
      reason: "replaced",
      pid: await findHolder(imagesDir, pids, id),
      resource: `removed ${path}`,
      predicate: `has ${path} open or stands in it, which was removed, and ${taken} is something else now, which cannot be restored.`,
      hint: `Let the program leave or close it (\`cd /\`), or move ${taken} away.`,
    };
  }
  return null;
}

function pathOf(id: number, files: readonly WireMessage[]): string | undefined {
  const file = files.find((each) => numberField(each, FILE_ID) === id);
  const regular = file && messageField(file, FILE_REGULAR);
  const name = regular && stringField(regular, REGULAR_NAME);
  return name === undefined ? undefined : join("/", name);
}

/** Returns the path that is in the way, or null: CRIU is not hindered by what is missing. */
export function findTaken(treeRoot: string, path: string, isDirectory: boolean): string | null {
  const names = path.split("/").filter(Boolean);
  for (let depth = 1; depth <= names.length; depth++) {
    const at = join("/", ...names.slice(0, depth));
    const isLast = depth === names.length;
    const found = kindOf(join(treeRoot, at));
    if (found === "missing") return null;
    // Where a link leads is for the kernel to say; CRIU follows it.
    if (found === "link") return null;
    if (!isLast && found !== "directory" && found !== "empty directory") return at;
    if (isLast && isDirectory && found !== "empty directory") return at;
  }
  return null;
}

function kindOf(path: string): "missing" | "link" | "directory" | "empty directory" | "file" {
  try {
    const status = lstatSync(path);
    if (status.isSymbolicLink()) return "link";
    if (!status.isDirectory()) return "file";
    return readdirSync(path).length === 0 ? "empty directory" : "directory";
  } catch (error) {
    if (isSystemError(error, "ENOENT", "ENOTDIR")) return "missing";
    throw error;
  }
}

/** Returns the process that has a file open, or stands in it. */
async function findHolder(imagesDir: string, pids: readonly number[], id: number): Promise<number> {
  const open = await readOpenFiles(imagesDir, pids);
  const holder = open.find((each) => each.id === id)?.pid;
  if (holder !== undefined) return holder;
  for (const pid of pids) {
    const [fs] = await readEntries(imagesDir, `fs-${pid}.img`, "fs").catch(() => []);
    if (fs === undefined) continue;
    if (numberField(fs, FS_CWD) === id || numberField(fs, FS_ROOT) === id) return pid;
  }
  return 1;
}
