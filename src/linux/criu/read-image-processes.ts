import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type IMAGE_MAGIC,
  messageField,
  numberField,
  readFirstImageEntry,
  readImageEntries,
  stringField,
  type WireMessage,
} from "../../formats/criu-images/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";

/** One process of an image directory, with the ids it has inside its pid namespace. */
export interface ImageProcess {
  pid: number;
  /** 0 for the root of the tree. */
  parentPid: number;
  /** The kernel's name of its main thread, at most 15 bytes. */
  command: string;
}

/** More than an entry of those that are read so has; it may hold a path. */
const FIRST_ENTRY_BYTES_MAX = 8192;

// pstree_entry
const PSTREE_PID = 1;
const PSTREE_PARENT_PID = 2;
// core_entry, task_core_entry
const CORE_TASK = 3;
const TASK_COMMAND = 6;

/**
 * Returns the processes that an image directory would bring back, parents before children.
 *
 * @throws CHECKPOINT_INCOMPLETE  an image is missing or cannot be read.
 */
export async function readImageProcesses(imagesDir: string): Promise<ImageProcess[]> {
  const tree = await readEntries(imagesDir, "pstree.img", "pstree");
  return Promise.all(
    tree.map(async (entry) => {
      const pid = numberField(entry, PSTREE_PID);
      const [core] = await readEntries(imagesDir, `core-${pid}.img`, "core");
      const task = core === undefined ? undefined : messageField(core, CORE_TASK);
      const command = (task && stringField(task, TASK_COMMAND)) ?? "";
      return { pid, parentPid: numberField(entry, PSTREE_PARENT_PID), command };
    }),
  );
}

/** Returns the first entry of an image that other data may follow. @throws CHECKPOINT_INCOMPLETE */
export async function readFirstEntry(
  imagesDir: string,
  name: string,
  kind: keyof typeof IMAGE_MAGIC,
): Promise<WireMessage> {
  const path = join(imagesDir, name);
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(FIRST_ENTRY_BYTES_MAX));
    return readFirstImageEntry(buffer.subarray(0, bytesRead), kind);
  } catch (cause) {
    throw unreadable(name, path, cause);
  }
}

/** Returns the entries of one image. @throws CHECKPOINT_INCOMPLETE */
export async function readEntries(
  imagesDir: string,
  name: string,
  kind: keyof typeof IMAGE_MAGIC,
): Promise<WireMessage[]> {
  const path = join(imagesDir, name);
  try {
    return readImageEntries(await readFile(path), kind);
  } catch (cause) {
    throw unreadable(name, path, cause);
  }
}

function unreadable(name: string, path: string, cause: unknown): WaypointError {
  return new WaypointError("CHECKPOINT_INCOMPLETE", `The process image ${name} cannot be read.`, {
    detail: { path, reason: String(cause) },
    cause,
  });
}
