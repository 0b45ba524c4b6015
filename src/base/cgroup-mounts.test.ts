import { expect, test } from "vitest";
import { cgroupMounts } from "./cgroup-mounts.ts";

const line = (mountPoint: string, type: string, options: string) =>
  `30 20 0:28 / ${mountPoint} rw,relatime shared:9 - ${type} none rw,${options}`;

test("version 1: a directory for each controller, the empty version 2 beside it is left alone", () => {
  const text = [
    line("/sys/fs/cgroup/memory", "cgroup", "memory"),
    line("/sys/fs/cgroup/cpu,cpuacct", "cgroup", "cpu,cpuacct"),
    line("/sys/fs/cgroup/unified", "cgroup2", "nsdelegate"),
  ].join("\n");

  expect(cgroupMounts(text, "")).toEqual({
    version: 1,
    directories: { memory: "/sys/fs/cgroup/memory", cpu: "/sys/fs/cgroup/cpu,cpuacct" },
    unused: [],
  });
});

test("version 2: one directory for the controllers that it has", () => {
  const text = line("/sys/fs/cgroup", "cgroup2", "nsdelegate");

  expect(cgroupMounts(text, "cpuset cpu io memory\n")).toEqual({
    version: 2,
    directories: { memory: "/sys/fs/cgroup", cpu: "/sys/fs/cgroup" },
    unused: [],
  });
});

test("controllers in both versions: those of version 2 are named, and not used", () => {
  const text = [
    line("/sys/fs/cgroup/cpu", "cgroup", "cpu"),
    line("/sys/fs/cgroup/unified", "cgroup2", "nsdelegate"),
  ].join("\n");

  expect(cgroupMounts(text, "memory pids")).toEqual({
    version: 1,
    directories: { cpu: "/sys/fs/cgroup/cpu" },
    unused: ["memory", "pids"],
  });
});

test("no control groups at all: no controllers", () => {
  expect(cgroupMounts(line("/", "ext4", "x"), "")).toEqual({
    version: 1,
    directories: {},
    unused: [],
  });
});
