import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";

/** Where system tools lie although a PATH set by `su` or cron may leave it out. */
const SYSTEM_DIRS = ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/bin", "/bin"];

/** Returns the path of a command, or null where this machine does not have it. */
export function findCommand(name) {
  const dirs = (process.env.PATH ?? "").split(":").filter((dir) => dir !== "");
  for (const dir of [...dirs, ...SYSTEM_DIRS]) {
    const candidate = path.join(dir, name);
    try {
      accessSync(candidate, constants.X_OK);
      if (statSync(candidate).isFile()) return candidate;
    } catch {
      // Not in this directory.
    }
  }
  return null;
}
