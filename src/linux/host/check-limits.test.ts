import { expect, test } from "vitest";
import { describeCgroup } from "./check-limits.ts";

const root = () => true;
const all = { memory: "/cg/memory", cpu: "/cg/cpu", pids: "/cg/pids" };

test.for([1, 2] as const)("with every controller in version %s every limit works", (version) => {
  expect(describeCgroup({ version, directories: all, unused: [] }, root)).toEqual({
    id: "cgroup",
    ok: true,
    detail: `memory, cpu, pids in version ${version}: --memory, --cpus, --pids can be used`,
    fix: null,
  });
});

test("controllers in both versions: those of version 2 are not used, and the fix puts all there", () => {
  const mounts = { version: 1, directories: { cpu: "/cg/cpu" }, unused: ["memory"] } as const;

  expect(describeCgroup({ ...mounts, unused: ["memory"] }, root)).toMatchObject({
    detail: "missing: memory, pids; cpu in version 1: --cpus can be used",
    fix: expect.stringContaining("systemd.unified_cgroup_hierarchy=1"),
  });
});

test("no control groups: no limit, and how they are mounted", () => {
  expect(describeCgroup({ version: 1, directories: {}, unused: [] }, root)).toMatchObject({
    detail: "missing: memory, cpu, pids; no limit can be used",
    fix: "mount -t cgroup2 none /sys/fs/cgroup",
  });
});

test("a controller that version 1 has not mounted is mounted there", () => {
  const directories = { memory: all.memory, cpu: all.cpu };

  expect(describeCgroup({ version: 1, directories, unused: [] }, root)).toMatchObject({
    detail: "missing: pids; memory, cpu in version 1: --memory, --cpus can be used",
    fix: expect.stringContaining("mount -t cgroup -o"),
  });
});

test("a container that may not write to its control groups has no limits", () => {
  const mounts = { version: 2, directories: all, unused: [] } as const;

  expect(describeCgroup({ ...mounts, unused: [] }, () => false)).toMatchObject({
    detail: "no right to set limits of memory, cpu, pids; no limit can be used",
    fix: expect.stringContaining("container"),
  });
});
