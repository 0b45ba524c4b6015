import { accessSync, constants } from "node:fs";
import { type CgroupMounts, type Controller, readCgroupMounts } from "../../base/index.ts";
import { type HostCheck, passed } from "./host-check.ts";
import { readPidsDefault } from "./pids-default.ts";

/** What sets a limit, by the controller that holds it. */
const OPTIONS: readonly (readonly [Controller, string])[] = [
  ["memory", "--memory"],
  ["cpu", "--cpus"],
  ["pids", "--pids"],
];

/** Returns which limits sessions can have, and what keeps a fork bomb in one from taking the machine. */
export function describeLimits(): HostCheck[] {
  const mounts = readCgroupMounts();
  return [describeCgroup(mounts, isWritable), describeSessionPids(mounts)];
}

/** Tells where the kernel's controllers were found, and which limits therefore work. */
export function describeCgroup(
  { version, directories, unused }: CgroupMounts,
  canWrite: (directory: string) => boolean,
): HostCheck {
  const directoryOf = ([controller]: (typeof OPTIONS)[number]) => directories[controller];
  const missing = OPTIONS.filter((each) => directoryOf(each) === undefined);
  const here = OPTIONS.filter((each) => !missing.includes(each));
  const locked = here.filter((each) => !canWrite(directoryOf(each) ?? ""));
  const usable = here.filter((each) => !locked.includes(each));
  const works = `${controllersOf(usable)} in version ${version}: ${optionsOf(usable)} can be used`;
  const detail = [
    ...(missing.length === 0 ? [] : [`missing: ${controllersOf(missing)}`]),
    ...(locked.length === 0 ? [] : [`no right to set limits of ${controllersOf(locked)}`]),
    ...(usable.length === 0 ? ["no limit can be used"] : [works]),
  ].join("; ");
  return passed("cgroup", detail, fixOf({ version, missing, locked, unused }));
}

function fixOf({
  version,
  missing,
  locked,
  unused,
}: Pick<CgroupMounts, "version" | "unused"> & Record<"missing" | "locked", typeof OPTIONS>) {
  if (missing.some(([controller]) => unused.includes(controller))) {
    return "Have all in one version: start the kernel with systemd.unified_cgroup_hierarchy=1.";
  }
  if (missing.length === 0) {
    return locked.length === 0 ? null : "Give the container control groups that it may write to.";
  }
  if (missing.length === OPTIONS.length) return "mount -t cgroup2 none /sys/fs/cgroup";
  return version === 1
    ? "Mount each: mkdir /sys/fs/cgroup/NAME; mount -t cgroup -o NAME none /sys/fs/cgroup/NAME"
    : "Start the kernel without cgroup_disable; give a container these controllers.";
}

function describeSessionPids({ directories: { pids } }: CgroupMounts): HostCheck {
  if (pids === undefined) {
    return passed("session-pids", "no pids controller: sessions may start any number of processes");
  }
  if (!isWritable(pids)) return passed("session-pids", `no limit: ${pids} cannot be written to`);
  return passed("session-pids", `at most ${readPidsDefault()} processes, unless said otherwise`);
}

function controllersOf(some: typeof OPTIONS): string {
  return some.map(([controller]) => controller).join(", ");
}

function optionsOf(some: typeof OPTIONS): string {
  return some.map(([, option]) => option).join(", ");
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
