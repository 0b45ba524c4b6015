import { expect, test } from "vitest";
import { parseTyped } from "./parse-typed.ts";

test("a line that ended has its duration, exit code and where its output is", () => {
  const notes = "begin 7 1700000000000 5000 100 echo \\\\n\\nsecond\nend 7 5250 130 3\n";

  expect(parseTyped(notes, 500)).toEqual([
    {
      ...{ number: 7, command: "echo \\n\nsecond", startedAtMs: 1_700_000_000_000 },
      ...{ durationMs: 250, exitCode: 3, outputStart: 100, outputEnd: 130 },
    },
  ]);
});

test("one that runs ends where the terminal ends, and of an unknown end there is no exit code", () => {
  const [lost, running] = parseTyped("begin 1 9 9 10 a\nend 1 10 20 -1\nbegin 2 9 9 30 b\n", 77);

  expect(lost).toMatchObject({ durationMs: 1, exitCode: null, outputEnd: 20 });
  expect(running).toMatchObject({ durationMs: null, exitCode: null, outputEnd: 77 });
});

test("what is cut, forged or damaged is left out", () => {
  const notes = [
    ...["1 9 9 10 cut", "end 1 10 20 0", "begin x 9 9 10 a", "begin 1 9 9 1e9 b", "end 5 1 1 1"],
    ...["begin 3 100 100 50 kept", "end 3 90 40 0", `begin 4 1 1 1 ${"x".repeat(9000)}`, ""],
  ].join("\n");

  const commands = parseTyped(notes, 60);

  expect(commands.map(({ number }) => number)).toEqual([3, 4]);
  expect(commands[0]).toMatchObject({ durationMs: 0, outputStart: 50, outputEnd: 50 });
  expect(commands[1]?.command).toHaveLength(4096);
});
