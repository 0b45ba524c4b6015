import { expect, test } from "vitest";
import type { StoryCommand } from "../../../shared/protocol/index.ts";
import { intentOfCommands } from "./intent-of-commands.ts";

const AT = Date.parse("2026-03-04T14:00:00.000Z");

/** Commands that take a second each, one a minute. */
function ran(...lines: [command: string, exitCode: number | null][]): StoryCommand[] {
  return lines.map(([command, exitCode], minute) => ({
    ...{ command, exitCode, by: "exec", output: "", outputBytes: 0 },
    startedAt: new Date(AT + minute * 60_000).toISOString(),
    durationMs: exitCode === null ? null : 1000,
  }));
}

const during = (minute: number) => AT + minute * 60_000 + 500;

test("the command that made the change is meant, not the last one that ran", () => {
  const commands = ran(["sed -i s/80/81/ app.conf", 0], ["npm run lint", 0], ["git status", 0]);

  expect(intentOfCommands(commands, [during(0)])).toEqual({
    text: "sed -i s/80/81/ app.conf",
    ...{ source: "command", exitCode: 0 },
  });
  expect(intentOfCommands(commands, [])).toMatchObject({ text: "npm run lint" });
});

test("a last command that failed is told beside the one that made the change", () => {
  const commands = ran(["sed -i s/80/81/ app.conf", 0], ["npm test", 1], ["ls nothing", 2]);

  expect(intentOfCommands(commands, [during(0)])).toMatchObject({
    text: "sed -i s/80/81/ app.conf",
    failedAfter: { text: "npm test", exitCode: 1 },
  });
  expect(intentOfCommands(commands, [during(1)])).toEqual({
    ...{ text: "npm test", source: "command", exitCode: 1 },
  });
});

test("a look that failed is told where nothing that acts has failed", () => {
  const commands = ran(["echo aa > a.conf", 0], ["cat nosuch", 1]);

  expect(intentOfCommands(commands, [])).toMatchObject({
    ...{ text: "echo aa > a.conf", exitCode: 0 },
    failedAfter: { text: "cat nosuch", exitCode: 1 },
  });
});

test("commands that only look are meant where nothing else was run", () => {
  expect(intentOfCommands(ran(["ls -l", 0], ["cat a | head", 0]), [])).toMatchObject({
    text: "cat a | head",
  });
  expect(intentOfCommands(ran(["make", 0], ["echo done", 0]), [])).toMatchObject({ text: "make" });
  expect(intentOfCommands(ran(["make", 0], ["echo done > log", 0]), [])).toMatchObject({
    text: "echo done > log",
  });
  expect(intentOfCommands(ran(["ls", 0], ["pwd", 0]), [])).toMatchObject({ text: "pwd" });
  expect(intentOfCommands([], [])).toBeNull();
});

test("an operation that changed files is meant where no command did, with a command that failed after it", () => {
  const merge = { text: "merge of c2", endedAtMs: AT - 1 };
  const meant = { text: "merge of c2", source: "operation" };

  expect(intentOfCommands([], [], merge)).toEqual(meant);
  expect(intentOfCommands(ran(["cat prices", 0]), [], merge)).toEqual(meant);
  expect(intentOfCommands(ran(["npm test", 1]), [], merge)).toEqual({
    ...meant,
    failedAfter: { text: "npm test", exitCode: 1 },
  });
  expect(intentOfCommands(ran(["npm test", 1]), [], { ...merge, endedAtMs: during(5) })).toEqual(
    meant,
  );
  const commands = ran(["ls", 0], ["sed -i s/1/2/ prices", 0]);
  expect(intentOfCommands(commands, [during(1)], merge)).toMatchObject({
    ...{ text: "sed -i s/1/2/ prices", source: "command" },
  });
});

test("one that still runs has no exit code, and its changes are its own", () => {
  const [build] = ran(["make -j4", null]);

  expect(intentOfCommands([build as StoryCommand], [during(30)])).toEqual({
    ...{ text: "make -j4", source: "command" },
  });
});

test("a text on several lines becomes one", () => {
  expect(intentOfCommands(ran(["for i in 1 2\n  do\n  touch $i\ndone", 0]), [])?.text).toBe(
    "for i in 1 2 do touch $i done",
  );
});
