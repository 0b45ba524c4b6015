import { expect, test } from "vitest";
import { limitSettings } from "./limit-settings.ts";

const written = (version: 1 | 2, limits: Partial<Parameters<typeof limitSettings>[1]>) =>
  limitSettings(version, {
    memoryLimitBytes: null,
    cpuLimit: null,
    pidsLimit: null,
    ...limits,
  }).map(({ file, value }) => `${file}=${value}`);

test("no limits: nothing is written", () => {
  expect(written(1, {})).toEqual([]);
});

test("memory does not spill over into swap", () => {
  const limits = { memoryLimitBytes: 1024 ** 2 };

  expect(written(1, limits)).toEqual([
    "memory.limit_in_bytes=1048576",
    "memory.memsw.limit_in_bytes=1048576",
  ]);
  expect(written(2, limits)).toEqual(["memory.max=1048576", "memory.swap.max=0"]);
});

test("processors are a share of each tenth of a second", () => {
  expect(written(1, { cpuLimit: 1.5 })).toEqual([
    "cpu.cfs_period_us=100000",
    "cpu.cfs_quota_us=150000",
  ]);
  expect(written(2, { cpuLimit: 1.5 })).toEqual(["cpu.max=150000 100000"]);
});

test("processes are counted the same way in both", () => {
  expect([written(1, { pidsLimit: 7 }), written(2, { pidsLimit: 7 })]).toEqual([
    ["pids.max=7"],
    ["pids.max=7"],
  ]);
});
