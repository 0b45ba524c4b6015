import { readFileSync } from "node:fs";
import { memoryField } from "../../formats/proc/index.ts";

/** Part of the machine's memory that images leave to everything else. */
const SHARE_LEFT_FREE = 0.1;

/** Returns how much memory images may still take without pressing other programs out of it. */
export function spareMemoryBytes(): number {
  const text = readFileSync("/proc/meminfo", "utf8");
  return memoryField(text, "MemAvailable") - memoryField(text, "MemTotal") * SHARE_LEFT_FREE;
}
