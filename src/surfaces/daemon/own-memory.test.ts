import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { OwnMemory } from "./own-memory.ts";

let collectedAtMs: number[];
let memory: OwnMemory;

beforeEach(() => {
  vi.useFakeTimers();
  const beganAtMs = performance.now();
  collectedAtMs = [];
  memory = new OwnMemory(() => collectedAtMs.push(performance.now() - beganAtMs));
});

afterEach(() => {
  memory.close();
  vi.useRealTimers();
});

test("memory is given back once where a burst of work has ended", async () => {
  for (let count = 0; count < 100; count += 1) {
    memory.noteWork();
    await vi.advanceTimersByTimeAsync(100);
  }
  await vi.advanceTimersByTimeAsync(600_000);

  expect(collectedAtMs).toEqual([11_400]);
});

test("who does something every four seconds has it given back, too, and not each time", async () => {
  for (let count = 0; count < 75; count += 1) {
    memory.noteWork();
    await vi.advanceTimersByTimeAsync(4_000);
  }

  expect(collectedAtMs.length).toBeGreaterThanOrEqual(8);
  expect(collectedAtMs.length).toBeLessThanOrEqual(10);
});

test("what was done soon after it is followed by one more", async () => {
  memory.noteWork();
  await vi.advanceTimersByTimeAsync(2_000);
  memory.noteWork();
  await vi.advanceTimersByTimeAsync(600_000);

  expect(collectedAtMs).toEqual([1_500, 31_500]);
});
