import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { WaypointError } from "../errors/index.ts";
import {
  type IMAGE_MAGIC,
  messageField,
  numberField,
  readImageEntries,
  stringField,
  type WireMessage,
} from "./image-format.ts";

/** One process of an image directory, with the ids it has inside its pid namespace. */
export interface ImageProcess {
  pid: number;
  /** 0 for the root of the tree. */
  parentPid: number;
  /** The kernel's name of its main thread, at most 15 bytes. */
  command: string;
}

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
    throw new WaypointError("CHECKPOINT_INCOMPLETE", `The process image ${name} cannot be read.`, {
      detail: { path, reason: String(cause) },
      cause,
    });
  }
}
