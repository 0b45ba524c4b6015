import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { cgroupMounts, stateLayout } from "../../src/base/index.ts";

function mounts() {
  return cgroupMounts(readFileSync("/proc/self/mountinfo", "utf8"), "memory cpu pids");
}

/** Returns the groups of a Waypoint's sessions: what is on the machine, not what is told. */
export function sessionGroups(stateDir: string): string[] {
  const name = `waypoint-${stateLayout(stateDir).key}`;
  const parents = Object.values(mounts().directories).map((mount) => path.join(mount, name));
  const found = parents.filter((parent) => existsSync(parent)).flatMap((parent) => list(parent));
  return [...new Set(found)].sort();
}

/** Returns what the kernel holds as a session's share of the processors, by instance. */
export function processorShares(stateDir: string, sessionId: string): string[] {
  const { version, directories } = mounts();
  const parent = path.join(directories.cpu ?? "", `waypoint-${stateLayout(stateDir).key}`);
  const file = version === 1 ? "cpu.cfs_quota_us" : "cpu.max";
  const names = list(parent).filter((name) => name.startsWith(sessionId));
  return names.map(
    (name) => readFileSync(path.join(parent, name, file), "utf8").split(/\s/)[0] ?? "",
  );
}

function list(parent: string): string[] {
  const entries = readdirSync(parent, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}
