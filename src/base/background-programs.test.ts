import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { BackgroundPrograms, STOOD_MS_MAX } from "./background-programs.ts";
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

test("what may take long stands for as long as it has run, too, and runs on at its end", () => {
  const programs = new BackgroundPrograms();
  const told: string[] = [];
  const stop = () => told.push("stop") > 0;
  const work = programs.addLong({ stop, letOn: () => void told.push("on") });
  vi.advanceTimersByTime(3 * STOOD_MS_MAX);

  programs.hold();
  vi.advanceTimersByTime(4 * STOOD_MS_MAX - 1);
  expect(told).toEqual(["stop"]);
  vi.advanceTimersByTime(1);
  expect(told).toEqual(["stop", "on"]);

  vi.advanceTimersByTime(1);
  programs.hold();
  work[Symbol.dispose]();
  programs.hold();
  vi.advanceTimersByTime(STOOD_MS_MAX);
  expect(told).toEqual(["stop", "on", "stop", "on"]);
});

test("what cannot stand runs on", () => {
  const programs = new BackgroundPrograms();
  const told: string[] = [];
  using _ = programs.addLong({ stop: () => false, letOn: () => void told.push("on") });

  programs.hold();
  programs.goOn();

  expect(told).toEqual([]);
});
