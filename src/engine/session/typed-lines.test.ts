import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { fakeEngine } from "../../../test/support/fake-engine.ts";
import { TypedLines } from "./typed-lines.ts";

const ENTER = Buffer.from("\r");

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** A shell that is at its prompt from this look on; `looks` are the times at which it was asked. */
function shell(isAtPromptFrom: number) {
  const { engine, steps, live } = fakeEngine();
  const looks: number[] = [];
  steps.answer("link.list", async () => {
    looks.push(Date.now());
    return { terminals: [{ id: 1, isAtPrompt: looks.length >= isAtPromptFrom }], commands: [] };
  });
  const lines = new TypedLines(live("s1", "i1"), engine);
  const ends = () => steps.all.filter((step) => step.startsWith("automatic.commandEnded")).length;
  return { lines, looks, ends };
}

test("a line has ended when the shell is at its prompt, and ends once", async () => {
  const { lines, looks, ends } = shell(1);
  lines.typed(ENTER);
  lines.printed();
  await vi.advanceTimersByTimeAsync(60_000);
  lines.printed();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(ends()).toBe(1);
  expect(looks).toHaveLength(1);
});

test("a shell that prints its prompt and comes to it later is asked again", async () => {
  const { lines, ends } = shell(4);
  lines.typed(ENTER);
  lines.printed();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(ends()).toBe(1);
});

test("a program that runs on in silence is not asked about for ever", async () => {
  const { lines, looks, ends } = shell(Number.POSITIVE_INFINITY);
  lines.typed(ENTER);
  lines.printed();
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(ends()).toBe(0);
  expect(looks.length).toBeLessThan(10);
});

test("what is printed before anybody has typed a line is not looked at, nor what comes after the end", async () => {
  const { lines, looks } = shell(1);
  lines.printed();
  lines.typed(Buffer.from("half a li"));
  lines.printed();
  await vi.advanceTimersByTimeAsync(60_000);
  lines.typed(ENTER);
  lines.printed();
  lines[Symbol.dispose]();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(looks).toEqual([]);
});
