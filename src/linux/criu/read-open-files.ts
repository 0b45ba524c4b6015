import { numberField } from "../../formats/criu-images/index.ts";
import { readEntries } from "./read-image-processes.ts";

/** A file that a process has open. */
export interface OpenFile {
  pid: number;
  /** Of the file, in the images. */
  id: number;
  descriptor: number;
}

// task_kobj_ids_entry, fdinfo_entry
const IDS_FILES = 2;
const FDINFO_FILE = 1;
const FDINFO_DESCRIPTOR = 4;

/** Returns what these processes have open; none of one that has ended. */
export async function readOpenFiles(
  imagesDir: string,
  pids: readonly number[],
): Promise<OpenFile[]> {
  const tables = await Promise.all(pids.map((pid) => readTable(imagesDir, pid)));
  return tables.flat();
}

async function readTable(imagesDir: string, pid: number): Promise<OpenFile[]> {
  const [ids] = await readEntries(imagesDir, `ids-${pid}.img`, "ids").catch(() => []);
  if (ids === undefined) return [];
  const open = await readEntries(imagesDir, `fdinfo-${numberField(ids, IDS_FILES)}.img`, "fdinfo");
  return open.map((entry) => ({
    pid,
    id: numberField(entry, FDINFO_FILE),
    descriptor: numberField(entry, FDINFO_DESCRIPTOR),
  }));
}
