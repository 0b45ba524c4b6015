import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Ran } from "./stood.ts";
import { settleStood, startDeadline } from "./stood.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const facts = { command: "test", durationMs: 1, at: "2026-01-01T00:00:00.000Z" };
const ran = (exitCode: number, { stoodMs = 0, timedOut = false } = {}): Ran => ({
  verification: { ...facts, exitCode, timedOut, by: "verify", output: "", outputBytes: 0 },
  stoodMs,
});

test.each([
  { what: "failed and stood", first: ran(1, { stoodMs: 5 }), runs: [true, false], exitCode: 0 },
  { what: "failed and ran all the time", first: ran(1), runs: [true], exitCode: 1 },
  { what: "passed and stood", first: ran(0, { stoodMs: 5 }), runs: [true], exitCode: 0 },
  {
    what: "took too long, also without the time in which it stood",
    first: ran(124, { stoodMs: 5, timedOut: true }),
    runs: [true],
    exitCode: 124,
  },
])("of what $what the verdict is that of $runs.length runs", async ({ first, runs, exitCode }) => {
  const begun: boolean[] = [];

  const verification = await settleStood(async (isBackground) => {
    begun.push(isBackground);
    return isBackground ? first : ran(0);
  });

  expect(begun).toEqual(runs);
  expect(verification.exitCode).toBe(exitCode);
});

test("the time in which a fork stands does not count, also that in which it is waited for", () => {
  let stood = 0;
  const onOver = vi.fn();
  using _ = startDeadline({ timeoutMs: 100, stoodMs: () => stood }, onOver);

  vi.advanceTimersByTime(50);
  stood = 40;
  vi.advanceTimersByTime(89);
  expect(onOver).not.toHaveBeenCalled();
  stood = 60;
  vi.advanceTimersByTime(20);
  expect(onOver).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(onOver).toHaveBeenCalledOnce();
});

test("it does not call back after its end", () => {
  const onOver = vi.fn();
  startDeadline({ timeoutMs: 100, stoodMs: () => 0 }, onOver)[Symbol.dispose]();

  vi.advanceTimersByTime(1_000);

  expect(onOver).not.toHaveBeenCalled();
});
