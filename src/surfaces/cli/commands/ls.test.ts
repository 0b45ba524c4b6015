import { expect, test } from "vitest";
import type { Paint } from "../text/style.ts";
import { renderState } from "./ls.ts";

const plain: Paint = (_color, text) => text;
const MEBIBYTE = 1024 ** 2;

const state = (facts: Partial<Parameters<typeof renderState>[0]>) =>
  renderState({ state: "running", limitsHit: null, disk: null, silence: null, ...facts }, plain);

test("a limit that was come up against is told in the past, with how often", () => {
  expect(state({ limitsHit: { memory: 1, pids: 1200, cpuHeldBackMs: 2500 } })).toBe(
    "running, was at its limit: memory once, pids 1,200 times, cpus for 2.5 s",
  );
  expect(state({ limitsHit: { memory: 0, pids: 0, cpuHeldBackMs: 10 } })).toBe("running");
});

test("a session that can write no more is at its limit now", () => {
  const disk = { usedBytes: 200 * MEBIBYTE, shareBytes: 200 * MEBIBYTE };

  expect(state({ disk })).toBe("running, at its limit: disk");
  expect(state({ disk: { ...disk, usedBytes: 0 } })).toBe("running");
});
