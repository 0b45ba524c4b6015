import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { BackgroundPrograms, STOOD_MS_MAX, type Stoppable } from "./background-programs.ts";
import type { Child } from "./start-child.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A program that notes the signals that it gets. */
class Program extends EventEmitter {
  readonly signals: string[] = [];

  kill(signal = "SIGTERM"): boolean {
    this.signals.push(signal);
    return true;
  }
}

function start(programs: BackgroundPrograms): Program {
  const program = new Program();
  programs.add(program as unknown as Child);
  return program;
}

test("programs stand while they are held, also those that start meanwhile", () => {
  const programs = new BackgroundPrograms();
  const before = start(programs);
  programs.hold();
  const meanwhile = start(programs);
  programs.hold();
  expect([before.signals, meanwhile.signals]).toEqual([["SIGSTOP"], ["SIGSTOP"]]);

  programs.goOn();
  const after = start(programs);

  expect(before.signals).toEqual(["SIGSTOP", "SIGCONT"]);
  expect(meanwhile.signals).toEqual(["SIGSTOP", "SIGCONT"]);
  expect(after.signals).toEqual([]);
});

test("one that has stood for its time goes on, and is not stopped again", () => {
  const programs = new BackgroundPrograms();
  const program = start(programs);
  programs.hold();
  vi.advanceTimersByTime(STOOD_MS_MAX / 2);
  programs.goOn();
  vi.advanceTimersByTime(STOOD_MS_MAX);
  programs.hold();
  vi.advanceTimersByTime(STOOD_MS_MAX / 2);
  expect(program.signals).toEqual(["SIGSTOP", "SIGCONT", "SIGSTOP", "SIGCONT"]);

  programs.goOn();
  programs.hold();

  expect(program.signals).toHaveLength(4);
});

test("one that has ended gets no signal", () => {
  const programs = new BackgroundPrograms();
  const program = start(programs);
  programs.hold();
  program.emit("exit");
  programs.goOn();
  vi.advanceTimersByTime(STOOD_MS_MAX);

  expect(program.signals).toEqual(["SIGSTOP"]);
});

/** Something that may take long, and what is done to it. */
function long(programs: BackgroundPrograms, { stop, letOn }: Partial<Stoppable> = {}) {
  const told: string[] = [];
  const work = programs.addLong({
    stop: () => (stop?.() ?? true) && told.push("stop") > 0,
    letOn: () => {
      letOn?.();
      told.push("on");
    },
  });
  return { told, work };
}

const fail = () => {
  throw new Error("EMFILE");
};

test("what may take long stands for a second at a time, and for as long as it has run", () => {
  const programs = new BackgroundPrograms();
  const { told, work } = long(programs);
  vi.advanceTimersByTime(5 * STOOD_MS_MAX);

  programs.hold();
  vi.advanceTimersByTime(STOOD_MS_MAX - 1);
  expect(told).toEqual(["stop"]);
  vi.advanceTimersByTime(1);
  expect(told).toEqual(["stop", "on"]);
  expect(work.stoodMs()).toBe(STOOD_MS_MAX);

  // What is earned in so short a time is not worth a stop.
  vi.advanceTimersByTime(10);
  programs.hold();
  expect(told).toEqual(["stop", "on"]);
  vi.advanceTimersByTime(200);
  programs.hold();
  vi.advanceTimersByTime(209);
  expect(told).toEqual(["stop", "on", "stop"]);
  vi.advanceTimersByTime(1);
  expect(told).toEqual(["stop", "on", "stop", "on"]);
  expect(work.stoodMs()).toBe(STOOD_MS_MAX + 210);
});

test("it runs on at its end, and is not stopped any more", () => {
  const programs = new BackgroundPrograms();
  const { told, work } = long(programs);
  programs.hold();

  work[Symbol.dispose]();
  programs.hold();
  vi.advanceTimersByTime(STOOD_MS_MAX);

  expect(told).toEqual(["stop", "on"]);
});

test("what cannot stand runs on, and nobody learns of that", () => {
  const programs = new BackgroundPrograms();
  const refused = long(programs, { stop: () => false });
  const failing = long(programs, { stop: fail });

  programs.hold();
  programs.goOn();

  expect([refused.told, failing.told]).toEqual([[], []]);
});

test("what cannot be let on is as soon as it can be, and holds up nothing else", () => {
  const programs = new BackgroundPrograms();
  let isFull = true;
  const failing = long(programs, { letOn: () => (isFull ? fail() : undefined) });
  const other = long(programs);
  programs.hold();
  programs.goOn();
  expect([failing.told, other.told]).toEqual([["stop"], ["stop", "on"]]);

  isFull = false;
  vi.advanceTimersByTime(STOOD_MS_MAX);

  expect(failing.told).toEqual(["stop", "on"]);
});
