import { readFileSync } from "node:fs";

/** Part of the machine's memory that images leave to everything else. */
const SHARE_LEFT_FREE = 0.1;

/** Returns how much memory images may still take without pressing other programs out of it. */
export function spareMemoryBytes(): number {
  const memory = readFileSync("/proc/meminfo", "utf8");
  const fieldBytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(memory)?.[1] ?? 0) * 1024;
  return fieldBytes("MemAvailable") - fieldBytes("MemTotal") * SHARE_LEFT_FREE;
}
