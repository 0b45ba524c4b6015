import { expect, test } from "vitest";
import { parseCommands, parseTerminals } from "./init-state.ts";

test("a terminal's line is read; unknown keys are ignored", () => {
  const line =
    "terminal id=3 pid=12 alive=1 cols=80 rows=24 start=0 end=9007199254740993 foreground=12 atPrompt=1 exit=0 signal=0 new=1\n";

  expect(parseTerminals(line)).toEqual([
    {
      id: 3,
      pid: 12,
      isAlive: true,
      cols: 80,
      rows: 24,
      startOffset: 0n,
      endOffset: 9007199254740993n,
      foreground: 12,
      isAtPrompt: true,
      exitCode: 0,
      signal: 0,
    },
  ]);
});

test("a command's line is read", () => {
  const line =
    "command id=4 kind=shell terminal=3 state=draining pid=0 exit=130 signal=2 reason=1 discarded=0\n";

  expect(parseCommands(line)).toMatchObject([
    { id: 4, kind: "shell", stage: "draining", exitCode: 130, reason: "aborted" },
  ]);
});

test("the size of a terminal, which a program may have set to anything, is bounded", () => {
  const line = "terminal id=1 pid=2 alive=1 cols=65535 rows=65535 start=0 end=0\n";

  expect(parseTerminals(line)).toMatchObject([{ cols: 2000, rows: 1000 }]);
});
