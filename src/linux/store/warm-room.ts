import { readFileSync } from "node:fs";
import path from "node:path";
import { isSystemError, readCgroupMounts } from "../../base/index.ts";
import { memoryField, memoryStallShare, ownGroupPath } from "../../formats/proc/index.ts";

/** Part of the machine's memory, and of a control group's, that stays free beside what is held. */
const SHARE_LEFT_FREE = 0.1;
/** Share of the last ten seconds in which something stood still for want of memory, from which on it is short. */
const STALL_SHARE_MAX = 0.01;
/** Files of a control group: its bounds, and what it uses. */
const GROUP_FILES = {
  1: { bounds: ["memory.limit_in_bytes"], usage: "memory.usage_in_bytes" },
  2: { bounds: ["memory.max", "memory.high"], usage: "memory.current" },
};

/**
 * Returns how much memory may be held for images, what is held already counted in: only what is free, so
 * that nothing is pushed out of a cache for it; nothing where the machine is short of memory.
 */
export function warmRoomBytes(heldBytes: number): number {
  if (memoryStallShare(readOr("/proc/pressure/memory")) > STALL_SHARE_MAX) return 0;
  const text = readOr("/proc/meminfo");
  const left = memoryField(text, "MemTotal") * SHARE_LEFT_FREE;
  const free = memoryField(text, "MemFree") - left;
  return Math.max(0, heldBytes + Math.min(free, groupFreeBytes()));
}

/** Returns what the control groups of this process have left, a part of each bound taken off. */
function groupFreeBytes(): number {
  const { version, directories } = readCgroupMounts();
  const mountPoint = directories.memory;
  if (mountPoint === undefined) return Number.POSITIVE_INFINITY;
  const { bounds, usage } = GROUP_FILES[version];
  let least = Number.POSITIVE_INFINITY;
  let group = ownGroupPath(readOr("/proc/self/cgroup"), version);
  for (;;) {
    const directory = path.join(mountPoint, group);
    for (const bound of bounds.map((name) => Number(readOr(path.join(directory, name)) || "max"))) {
      if (Number.isNaN(bound)) continue;
      const used = Number(readOr(path.join(directory, usage)));
      least = Math.min(least, bound * (1 - SHARE_LEFT_FREE) - used);
    }
    if (group === "/") return least;
    group = path.dirname(group);
  }
}

/** Returns a file's text, "" where this machine has none. */
function readOr(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (isSystemError(error, "ENOENT", "EOPNOTSUPP", "ENODEV")) return "";
    throw error;
  }
}
