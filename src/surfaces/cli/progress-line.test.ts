import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ProgressLine, tellProgress } from "./progress-line.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
});

afterEach(() => {
  vi.useRealTimers();
});

function draw() {
  const written: string[] = [];
  const terminal = { columns: 20, write: (text: string) => void written.push(text) };
  return { written, line: new ProgressLine("fork", terminal) };
}

test("what is over within a second draws nothing", () => {
  const { written, line } = draw();
  vi.advanceTimersByTime(900);
  line[Symbol.dispose]();
  vi.advanceTimersByTime(5_000);

  expect(written).toEqual([]);
});

test("what lasts is told in one line, which goes before anything else is printed", () => {
  const { written, line } = draw();
  line.update({ done: 12, total: 30, unit: "forks" });
  vi.advanceTimersByTime(1_000);
  expect(written).toEqual(["\r\u001b[Kfork: 12 of 30 fork"]);

  line.erase();
  line.erase();
  expect(written.slice(1)).toEqual(["\r\u001b[K"]);

  vi.advanceTimersByTime(250);
  line[Symbol.dispose]();
  expect(written.at(-1)).toBe("\r\u001b[K");
  expect(written).toHaveLength(4);
});

test("where nobody looks nothing is kept running", () => {
  const line = new ProgressLine("fork", null);

  expect(vi.getTimerCount()).toBe(0);
  line[Symbol.dispose]();
});

test.each([
  [null, "fork: 3 s"],
  [{ done: 2, total: 30, unit: "forks" } as const, "fork: 2 of 30 forks, 3 s"],
  [{ done: 3 * 1024 ** 2, total: null, unit: "bytes" } as const, "fork: 3.0 MiB, 3 s"],
])("it tells %j as %s", (progress, told) => {
  expect(tellProgress("fork", progress, 3_400)).toBe(told);
});
