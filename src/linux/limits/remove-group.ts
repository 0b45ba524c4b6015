import { rmdirSync } from "node:fs";
import { isSystemError } from "../../base/index.ts";

/** Returns whether a control group is gone; `false` while something is in it. */
export function removeGroup(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return true;
    if (isSystemError(error, "EBUSY", "ENOTEMPTY")) return false;
    throw error;
  }
}
