import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/**
 * Tells whether a process lies in a frozen group of version 1 of control groups, in which nothing
 * can end it.
 */
export function hasFrozenGroup(hostPid: number): boolean {
  const mount = findFreezer();
  const group = /^\d+:freezer:(.*)$/m.exec(readOr(`/proc/${hostPid}/cgroup`))?.[1];
  if (mount === undefined || group === undefined) return false;
  return readOr(path.join(mount, group, "freezer.state")).trim() !== "THAWED";
}

/** Takes a process out of such a group, so that it ends when it was killed. */
export function leaveFrozenGroup(hostPid: number): void {
  const mount = findFreezer();
  if (mount === undefined) return;
  try {
    writeFileSync(path.join(mount, "cgroup.procs"), String(hostPid));
  } catch {
    // It has ended, or must not be moved: then it ends when somebody thaws it.
  }
}

function findFreezer(): string | undefined {
  const lines = readOr("/proc/self/mountinfo").split("\n");
  const line = lines.find((each) => / - cgroup \S+ (\S+,)?freezer(,|$)/.test(each));
  return line?.split(" ")[4];
}

function readOr(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
