import { rmdirSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import { isSystemError } from "../../base/index.ts";

/** Returns whether a control group is gone; `false` while something is in it. */
export function removeGroup(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch (error) {
    return isGone(error);
  }
}

/** The same off the event loop: the kernel waits for others who make and remove groups. */
export async function removeGroupAside(directory: string): Promise<boolean> {
  try {
    await rmdir(directory);
    return true;
  } catch (error) {
    return isGone(error);
  }
}

function isGone(error: unknown): boolean {
  if (isSystemError(error, "ENOENT")) return true;
  if (isSystemError(error, "EBUSY", "ENOTEMPTY")) return false;
  throw error;
}
