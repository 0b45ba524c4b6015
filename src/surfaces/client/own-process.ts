import { readFileSync } from "node:fs";

/** Returns what tells this process from all others; null where the kernel does not say. */
export function ownProcess(): { pid: number; startTicks: number } | null {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    // The name of the program, in parentheses, may have spaces.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { pid: Number(stat.split(" ", 1)[0]), startTicks: Number(fields[19]) };
  } catch {
    return null;
  }
}
