import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  messageField,
  numberField,
  stringField,
  type WireMessage,
} from "../../formats/criu-images/index.ts";
import { readEntries } from "./read-image-processes.ts";

const LOCKS = "filelocks.img";
// file_lock_entry
const LOCK_PID = 3;
const LOCK_DESCRIPTOR = 4;
// task_kobj_ids_entry, fdinfo_entry, file_entry, reg_file_entry
const IDS_FILES = 2;
const FDINFO_FILE = 1;
const FDINFO_DESCRIPTOR = 4;
const FILE_ID = 2;
const FILE_REGULAR = 3;
const REGULAR_NAME = 6;

/**
 * Returns the paths, inside the session, of the files on which processes hold locks or leases.
 *
 * @throws CHECKPOINT_INCOMPLETE  an image is missing or cannot be read.
 */
export async function readLockedFiles(imagesDir: string): Promise<string[]> {
  // A tree without locks has no such image.
  if (!existsSync(join(imagesDir, LOCKS))) return [];
  const locks = await readEntries(imagesDir, LOCKS, "fileLocks");
  const paths = pathsOf(await readEntries(imagesDir, "files.img", "files"));
  const locked = new Set<string>();
  for (const [pid, descriptors] of Map.groupBy(locks, (lock) => numberField(lock, LOCK_PID))) {
    const [ids] = await readEntries(imagesDir, `ids-${pid}.img`, "ids");
    const tableId = ids === undefined ? 0 : numberField(ids, IDS_FILES);
    const opened = await readEntries(imagesDir, `fdinfo-${tableId}.img`, "fdinfo");
    const held = new Set(descriptors.map((lock) => numberField(lock, LOCK_DESCRIPTOR)));
    for (const each of opened) {
      const path = paths.get(numberField(each, FDINFO_FILE));
      if (path !== undefined && held.has(numberField(each, FDINFO_DESCRIPTOR))) locked.add(path);
    }
  }
  return [...locked];
}

function pathsOf(files: readonly WireMessage[]): Map<number, string> {
  return new Map(
    files.flatMap((file): [number, string][] => {
      const regular = messageField(file, FILE_REGULAR);
      const path = regular && stringField(regular, REGULAR_NAME);
      return path === undefined ? [] : [[numberField(file, FILE_ID), path]];
    }),
  );
}
