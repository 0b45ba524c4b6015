/** Returns a field of /proc/PID/status, empty where there is none. */
export function statusField(status: string, name: string): string {
  return new RegExp(`^${name}:\\s*(.*)$`, "m").exec(status)?.[1] ?? "";
}

/** Returns a process's id in its own namespace from /proc/PID/status, `null` where it is not told. */
export function innerPidOf(status: string): number | null {
  const pid = Number(statusField(status, "NSpid").split(/\s+/).at(-1));
  return pid > 0 ? pid : null;
}

/** Parses /proc/PID/task/TID/children. */
export function parseChildren(text: string): number[] {
  return text.split(" ").filter(Boolean).map(Number);
}
