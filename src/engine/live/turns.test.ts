import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PUT_OFF_MS_MAX, Turns } from "./turns.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Asks for a turn, and tells whether it has come. */
function ask(turns: Turns, askedAtMs = performance.now(), signal?: AbortSignal) {
  const asked = { isDone: false };
  void turns.turn(askedAtMs, signal).then(() => {
    asked.isDone = true;
  });
  return asked;
}

test("it gives way to a command until that has ended, or for a second of it", async () => {
  const turns = new Turns();
  const short = turns.command();
  const behindShort = ask(turns);
  short[Symbol.dispose]();
  await vi.advanceTimersByTimeAsync(39);
  expect(behindShort.isDone).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(behindShort.isDone).toBe(true);

  const long = turns.command();
  const behindLong = ask(turns);
  await vi.advanceTimersByTimeAsync(1_039);
  expect(behindLong.isDone).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(behindLong.isDone).toBe(true);
  // It has ended once already.
  long[Symbol.dispose]();
  turns.begin();
  const behindOperation = ask(turns);
  await vi.advanceTimersByTimeAsync(100);
  expect(behindOperation.isDone).toBe(false);
});

test("what nobody waits for goes on at once where nobody waits for anything", async () => {
  const asked = ask(new Turns());
  await vi.advanceTimersByTimeAsync(0);

  expect(asked.isDone).toBe(true);
});

test("it gives way to what somebody waits for, and to what follows right behind that", async () => {
  const turns = new Turns();
  turns.begin();
  const asked = ask(turns);
  await vi.advanceTimersByTimeAsync(500);
  expect(asked.isDone).toBe(false);

  turns.end();
  await vi.advanceTimersByTimeAsync(20);
  turns.begin();
  await vi.advanceTimersByTimeAsync(100);
  expect(asked.isDone).toBe(false);

  turns.end();
  await vi.advanceTimersByTimeAsync(50);
  expect(asked.isDone).toBe(true);
});

test("it is never starved: ten minutes of work without a pause put nothing off beyond the bound", async () => {
  const turns = new Turns();
  let putOffMsMax = 0;
  turns.begin();
  for (let round = 0; round < 6_000; round += 1) {
    // There is always one more under way before the last one has ended.
    turns.begin();
    const askedAtMs = performance.now();
    void turns.turn(askedAtMs).then(() => {
      putOffMsMax = Math.max(putOffMsMax, performance.now() - askedAtMs);
    });
    await vi.advanceTimersByTimeAsync(100);
    turns.end();
  }
  await vi.advanceTimersByTimeAsync(PUT_OFF_MS_MAX);

  expect(putOffMsMax).toBe(PUT_OFF_MS_MAX);
});

test("what has waited for its bound already is not put off again, whatever stands before it", async () => {
  const turns = new Turns();
  turns.begin();
  const asked = ask(turns, performance.now() - PUT_OFF_MS_MAX);
  await vi.advanceTimersByTimeAsync(0);

  expect(asked.isDone).toBe(true);
});

test.each<[string, (turns: Turns) => unknown]>([
  ["somebody waits for just that", (turns) => turns.hurry()],
  ["all is to come to its end", (turns) => turns.open()],
])("nothing is put off where %s", async (_why, change) => {
  const turns = new Turns();
  turns.begin();
  const before = ask(turns);
  change(turns);
  const after = ask(turns);
  await vi.advanceTimersByTimeAsync(0);

  expect([before.isDone, after.isDone]).toEqual([true, true]);
});

test("it is put off again when nobody waits for it any more", async () => {
  const turns = new Turns();
  turns.begin();
  turns.hurry()[Symbol.dispose]();
  const asked = ask(turns);
  await vi.advanceTimersByTimeAsync(100);

  expect(asked.isDone).toBe(false);
});

test("nothing is put off where memory is short, nor what is not needed any more", async () => {
  const short = new Turns(() => true);
  short.begin();
  const pressed = ask(short);
  const turns = new Turns();
  turns.begin();
  const abort = new AbortController();
  const unneeded = ask(turns, performance.now(), abort.signal);
  abort.abort();
  await vi.advanceTimersByTimeAsync(0);

  expect([pressed.isDone, unneeded.isDone]).toEqual([true, true]);
});

test("programs of the background stand from its begin until it has rested, but not where somebody waits for them", async () => {
  const told: string[] = [];
  const programs = {
    hold: () => told.push("hold"),
    goOn: () => told.push("go"),
    addLong: () => ({ stoodMs: () => 0, [Symbol.dispose]: () => {} }),
  };
  const turns = new Turns(() => false, programs);

  turns.begin();
  turns.end();
  expect(told).toEqual(["hold"]);
  await vi.advanceTimersByTimeAsync(50);
  expect(told).toEqual(["hold", "go"]);

  const hurried = turns.hurry();
  turns.begin();
  expect(told).toEqual(["hold", "go", "go"]);
  hurried[Symbol.dispose]();
});

test("where memory is short no program of the background stands", () => {
  const told: string[] = [];
  const programs = {
    hold: () => told.push("hold"),
    goOn: () => told.push("go"),
    addLong: () => ({ stoodMs: () => 0, [Symbol.dispose]: () => {} }),
  };

  new Turns(() => true, programs).begin();

  expect(told).toEqual([]);
});
