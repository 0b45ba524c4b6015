import { expect, test } from "vitest";
import { ownGroupPath } from "./cgroup.ts";
import { memoryField } from "./meminfo.ts";
import { parseMountInfo } from "./mountinfo.ts";
import { memoryStallShare } from "./pressure.ts";
import { innerPidOf, parseChildren, statusField } from "./status.ts";

test("a mount is read with optional fields and octal numbers", () => {
  const text = [
    String.raw`36 35 98:0 /mnt\0401 /mnt/a\040b\134c rw,noatime master:1 - ext4 /dev/my\040root rw,errors=continue`,
    "22 21 0:5 / /proc rw - proc proc rw",
    "",
  ].join("\n");

  expect(parseMountInfo(text)).toEqual([
    {
      ...{ id: 36, parentId: 35, device: "98:0", root: "/mnt 1" },
      mountPoint: String.raw`/mnt/a b\c`,
      ...{ options: ["rw", "noatime"], type: "ext4", source: "/dev/my root" },
      filesystemOptions: ["rw", "errors=continue"],
    },
    {
      ...{ id: 22, parentId: 21, device: "0:5", root: "/", mountPoint: "/proc" },
      ...{ options: ["rw"], type: "proc", source: "proc", filesystemOptions: ["rw"] },
    },
  ]);
});

test("the innermost process id is a process's own", () => {
  const status = "Name:\tcat\nTracerPid:\t0\nNSpid:\t7121\t12\t3\n";

  expect(innerPidOf(status)).toBe(3);
  expect(innerPidOf("Name:\tcat\n")).toBeNull();
  expect(statusField(status, "Name")).toBe("cat");
  expect(statusField(status, "Pid")).toBe("");
});

test("children are numbers, none is none", () => {
  expect(parseChildren("12 13 ")).toEqual([12, 13]);
  expect(parseChildren("")).toEqual([]);
});

test("memory is told in bytes", () => {
  const text =
    "MemTotal:       24689764 kB\nMemAvailable:   20000000 kB\nHugePages_Total:       0\n";

  expect(memoryField(text, "MemAvailable")).toBe(20_000_000 * 1024);
  expect(memoryField(text, "HugePages_Total")).toBe(0);
  expect(memoryField(text, "Absent")).toBe(0);
});

test("the control group of memory is found in either hierarchy", () => {
  const old = "9:name=systemd:/\n4:cpu,memory:/agents/a:b\n0::/\n";

  expect(ownGroupPath(old, 1)).toBe("/agents/a:b");
  expect(ownGroupPath("0::/system.slice/waypoint.service\n", 2)).toBe(
    "/system.slice/waypoint.service",
  );
  expect(ownGroupPath("", 2)).toBe("/");
});

test("the share of time in which programs stood still for memory is read", () => {
  const text = "some avg10=12.50 avg60=1.00 avg300=0.10 total=5\nfull avg10=1.00 avg60=0.00\n";

  expect(memoryStallShare(text)).toBe(0.125);
  expect(memoryStallShare("")).toBe(0);
});
