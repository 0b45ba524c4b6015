import { expect, test } from "vitest";
import { judgeGoals } from "./goals.ts";
import { describeMachine, type Results, toLine } from "./results.ts";

function resultsWith(...lines: [contender: string, figure: string, p50: number][]): Results {
  const shell = {
    ...{ name: "shell", title: "a shell", notMeasured: [] },
    lines: lines.map(([contender, figure, p50]) => toLine({ contender, figure, values: [p50] })),
  };
  return { machine: describeMachine(), words: "", workloads: [shell] };
}

function outcomes(results: Results) {
  return judgeGoals(results).map(({ goal, measured, isMet }) => [goal, measured, isMet]);
}

test("goals are judged as a value, as a ratio, and as times faster", () => {
  const results = resultsWith(
    ["waypoint", "pause", 11],
    ["bare criu", "pause", 10],
    ["waypoint", "fork", 20],
    ["waypoint", "checkpoint", 20],
    ["podman", "checkpoint", 190],
    ["podman", "restore", 400],
  );

  expect(outcomes(results)).toEqual([
    ["≤ 10 ms", "11.0 ms", false],
    ["≤ 1.1 ×", "1.10 ×", true],
    ["≤ 1.5 ×", "1.00 ×", true],
    ["≤ 28 ms", "20.0 ms", true],
    ["≥ 10 ×", "9.5 ×", false],
    ["≥ 10 ×", "20.0 ×", true],
  ]);
});

test("a goal whose peer is missing is not judged, and one of another workload is left out", () => {
  const results = resultsWith(["waypoint", "pause", 9], ["waypoint", "fork", 30]);

  expect(outcomes(results)).toEqual([
    ["≤ 10 ms", "9.0 ms", true],
    ["≤ 1.1 ×", null, null],
    ["≤ 1.5 ×", "1.00 ×", true],
    ["≤ 28 ms", "30.0 ms", false],
    ["≥ 10 ×", null, null],
    ["≥ 10 ×", null, null],
  ]);
});

test("a spread is judged by p95 against p50, and a figure after a rest against the same without", () => {
  const paused = (figure: string, values: number[]) =>
    toLine({ contender: "waypoint, 30 MiB", figure, values });
  const pace = {
    ...{ name: "pace", title: "the pace of use", notMeasured: [] },
    lines: [paused("pause", [20]), paused("pause, after a rest", [22, 22, 44])],
  };

  const outcome = outcomes({ machine: describeMachine(), words: "", workloads: [pace] });

  expect(outcome.slice(0, 2)).toEqual([
    ["≤ 1.2 ×", "1.10 ×", true],
    ["≤ 1.5 ×", "2.00 ×", false],
  ]);
});

test("a command is judged by what it takes beyond Node's start", () => {
  const called = (contender: string, figure: string, p50: number) =>
    toLine({ contender, figure, values: [p50] });
  const commands = {
    ...{ name: "commands", title: "one command", notMeasured: [] },
    lines: [
      called("node -e 0", "start", 23),
      called("command line", "exec true", 39),
      called("command line", "checkpoint", 60),
    ],
  };

  expect(outcomes({ machine: describeMachine(), words: "", workloads: [commands] })).toEqual([
    ["≤ 80 ms", null, null],
    ["≤ 15 ms", "16.0 ms", false],
    ["≤ 45 ms", "37.0 ms", true],
  ]);
});

test("programs whose writes are followed are judged by the shell that was measured beside each", () => {
  const beside = "pause of a shell's checkpoint, in turn with these";
  const line = (contender: string, figure: string, value: number) =>
    toLine({ contender, figure, values: [value] });
  const followed = {
    ...{ name: "followed", title: "followed", notMeasured: [] },
    lines: [
      ...[line("redis", "pause", 12), line("redis", beside, 10)],
      ...[line("node", "pause", 12), line("node", beside, 8)],
      line("eight programs", "pause, longest of 10 in a row", 14),
      line("eight programs", beside, 10),
      ...[line("1 GiB held", "pause", 20), line("podman", "pause", 900)],
    ],
  };

  const outcome = outcomes({ machine: describeMachine(), words: "", workloads: [followed] });

  expect(outcome).toEqual([
    ["≤ 1.3 ×", "1.20 ×", true],
    ["≤ 1.3 ×", null, null],
    ["≤ 1.3 ×", "1.50 ×", false],
    ["≤ 1.3 ×", null, null],
    ["≤ 1.5 ×", "1.40 ×", true],
    ["≥ 30 ×", "45.0 ×", true],
  ]);
});
