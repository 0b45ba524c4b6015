import { readFileSync } from "node:fs";
import { isSystemError } from "./system-error.ts";

/** Where the kernel's controllers are mounted: a directory each (v1), or one for all (v2). */
export interface CgroupMounts {
  version: 1 | 2;
  /** Mount point by controller. */
  directories: Partial<Record<Controller, string>>;
  /** Those that version 2 has, where it is left alone because others are in version 1. */
  unused: Controller[];
}

/** What a limit is set with. */
export type Controller = "memory" | "cpu" | "pids";

const CONTROLLERS: readonly Controller[] = ["memory", "cpu", "pids"];

/**
 * Finds the controllers in /proc/self/mountinfo.
 *
 * A controller that is mounted the old way is not in the new hierarchy, so the old mounts are
 * looked for first; machines that have both keep an empty new one beside them.
 */
export function cgroupMounts(mountInfo: string, unifiedControllers: string): CgroupMounts {
  const old: CgroupMounts["directories"] = {};
  let unifiedDir: string | undefined;
  for (const line of mountInfo.split("\n")) {
    const [left = "", right = ""] = line.split(" - ");
    const mountPoint = left.split(" ")[4] ?? "";
    const [type, , options = ""] = right.split(" ");
    if (type === "cgroup2") unifiedDir ??= mountPoint;
    if (type !== "cgroup") continue;
    const names = options.split(",");
    for (const controller of CONTROLLERS) {
      if (names.includes(controller)) old[controller] ??= mountPoint;
    }
  }
  const available = unifiedControllers.split(/\s+/);
  const here = CONTROLLERS.filter((controller) => available.includes(controller));
  if (Object.keys(old).length > 0 || unifiedDir === undefined) {
    return { version: 1, directories: old, unused: here };
  }
  return {
    version: 2,
    directories: Object.fromEntries(here.map((controller) => [controller, unifiedDir])),
    unused: [],
  };
}

/** Returns where this machine has its controllers. */
export function readCgroupMounts(): CgroupMounts {
  const mountInfo = readFileSync("/proc/self/mountinfo", "utf8");
  const unified = / (\/\S+) \S+ .*- cgroup2 /.exec(mountInfo)?.[1];
  const controllers = unified === undefined ? "" : readOr(`${unified}/cgroup.controllers`, "");
  return cgroupMounts(mountInfo, controllers);
}

function readOr(filePath: string, fallback: string): string {
  try {
    return readFileSync(filePath, "utf8");
  } catch (error) {
    if (isSystemError(error, "ENOENT", "ENODEV")) return fallback;
    throw error;
  }
}
