import { readFileSync } from "node:fs";
import { memoryField } from "../../formats/proc/index.ts";

/** Returns how much memory programs may take now without others being pressed out of it. */
export function availableMemoryBytes(): number {
  return memoryField(readFileSync("/proc/meminfo", "utf8"), "MemAvailable");
}
