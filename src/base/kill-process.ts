import { isSystemError } from "./system-error.ts";

/** Sends a signal to a process; one that has ended meanwhile needs none. */
export function killProcess(pid: number, signal: NodeJS.Signals = "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!isSystemError(error, "ESRCH")) throw error;
  }
}
