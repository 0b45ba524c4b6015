import { readFileSync } from "node:fs";
import { WaypointError } from "../shared/errors/index.ts";
import { isSystemError } from "./system-error.ts";

/** What shells, our launcher and others say when the kernel lets them start no process. */
const CANNOT_FORK =
  /\b(?:cannot fork|fork|clone|make namespaces)\b.*(?:Resource temporarily unavailable|EAGAIN)|: Cannot fork$/im;

/**
 * Returns the error for a process that the kernel did not let start, or `null` for another failure.
 *
 * @param failure  what starting it threw, or what a program said that had to start one itself.
 */
export function processesFull(failure: unknown): WaypointError | null {
  const isFull =
    typeof failure === "string" ? CANNOT_FORK.test(failure) : isSystemError(failure, "EAGAIN");
  return isFull ? noProcessLeft(failure) : null;
}

/** Returns the error for a process that the kernel did not let start. */
export function noProcessLeft(cause?: unknown): WaypointError {
  return new WaypointError("PROCESSES_FULL", "No further process can be started on this machine.", {
    hint: "End some processes, or raise the limit of the daemon (its control group's pids.max, or kernel.pid_max), then try again.",
    cause,
  });
}

/**
 * Returns how many processes the control group of this one was refused so far; 0 without one.
 *
 * Some programs fail without a word when they cannot fork: a count that has grown tells why.
 */
export function refusedProcesses(): number {
  try {
    const own = readFileSync("/proc/self/cgroup", "utf8");
    const [, oldPath] = /^\d+:pids:(.*)$/m.exec(own) ?? [];
    const [, newPath] = /^0::(.*)$/m.exec(own) ?? [];
    const directory =
      oldPath === undefined ? `/sys/fs/cgroup${newPath}` : `/sys/fs/cgroup/pids${oldPath}`;
    const events = readFileSync(`${directory}/pids.events`, "utf8");
    return Number(/^max (\d+)$/m.exec(events)?.[1] ?? 0);
  } catch {
    return 0;
  }
}
