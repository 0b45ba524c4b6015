import { existsSync, readFileSync, statfsSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { isInMemory } from "../../base/index.ts";
import { memoryField } from "../../formats/proc/index.ts";
import { hasCapability } from "./capabilities.ts";
import { describeLimits } from "./check-limits.ts";
import { failed, type HostCheck, passed } from "./host-check.ts";

/** Below this the store cannot even be made. */
const DISK_FREE_BYTES_MIN = 1024 ** 3;

const BTRFS_MAGIC = 0x9123683e;

/** Returns what decides how well, rather than whether, Waypoint works here. */
export function describeResources(stateDir: string): HostCheck[] {
  return [
    checkDisk(stateDir),
    describeMemory(),
    describeSysResource(),
    ...describeLimits(),
    describeIoLimits(),
    describeBase(),
    describeForwarding(),
    describeTimeNamespace(),
  ];
}

function checkDisk(stateDir: string): HostCheck {
  const existingDir = nearestExistingDir(stateDir);
  const { bavail, bsize, type } = statfsSync(existingDir);
  const freeBytes = bavail * bsize;
  const kind = kindOf(existingDir, Number(type) >>> 0);
  const detail = `${gibibytes(freeBytes)} free for ${stateDir} (${kind})`;
  if (freeBytes >= DISK_FREE_BYTES_MIN) return passed("disk", detail);
  return failed("disk", detail, "Free some space, or point WAYPOINT_DIR at a larger filesystem.");
}

function kindOf(directory: string, type: number): string {
  if (type === BTRFS_MAGIC) return "btrfs";
  const image = "a loop image will hold the store";
  return isInMemory(directory) ? `${image}, in memory: nothing there survives a power loss` : image;
}

/** Memory available matters because images lie in memory until they are durable. */
function describeMemory(): HostCheck {
  const text = readFileSync("/proc/meminfo", "utf8");
  const available = gibibytes(memoryField(text, "MemAvailable"));
  return passed("memory", `${available} available of ${gibibytes(os.totalmem())}`);
}

function describeSysResource(): HostCheck {
  if (hasCapability("CAP_SYS_RESOURCE")) return passed("cap-sys-resource", "present");
  return passed("cap-sys-resource", "missing; CRIU's preload stands in for it");
}

function describeIoLimits(): HostCheck {
  const limits = readFileSync("/proc/self/limits", "utf8");
  const [, soft = "?", hard = "?"] = /^Max open files\s+(\S+)\s+(\S+)/m.exec(limits) ?? [];
  const watches = readSetting("/proc/sys/fs/inotify/max_user_watches");
  return passed("limits", `open files ${soft} (at most ${hard}), inotify watches ${watches}`);
}

/** What sessions stand on unless told otherwise, and what a copy of it would take. */
function describeBase(): HostCheck {
  const { blocks, bfree, bsize } = statfsSync("/");
  const size = gibibytes((blocks - bfree) * bsize);
  return passed(
    "base",
    "without --base or a default: this machine's own root, as it is at each moment",
    `\`waypoint base add NAME --from-host\` keeps a copy that never changes, up to ${size}; \`base ls\` shows the default.`,
  );
}

function describeForwarding(): HostCheck {
  const isOn = readSetting("/proc/sys/net/ipv4/ip_forward") === "1";
  if (isOn) return passed("ip-forward", "on");
  return passed("ip-forward", "off; switched on while a session with --net nat lives");
}

function describeTimeNamespace(): HostCheck {
  if (existsSync("/proc/self/ns/time")) return passed("time-namespace", "available");
  return passed("time-namespace", "missing; the monotonic clock jumps at a restore");
}

function readSetting(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8").trim() : "unknown";
}

function nearestExistingDir(dir: string): string {
  let candidate = path.resolve(dir);
  while (!existsSync(candidate)) candidate = path.dirname(candidate);
  return candidate;
}

function gibibytes(bytes: number): string {
  return `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
}
