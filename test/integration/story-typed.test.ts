import { afterAll, beforeAll, expect, test } from "vitest";
import type { Checkpoint, Session } from "../../src/index.ts";
import { runInDaemon } from "../support/run-in-daemon.ts";
import { TestTerminal } from "../support/test-terminal.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** The start-up files of this machine's user may set what is tested here. */
const PLAIN = { net: "none", env: { HOME: "/nonexistent", HISTFILE: "" } } as const;

/** With the number of the command, which tells one prompt from the next. */
const PROMPT = /ready-(\d+)> *$/;

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

async function open(name: string): Promise<Session> {
  const session = await own.waypoint.new({ name, ...PLAIN });
  await session.exec("PS1='ready-\\#> '");
  return session;
}

/** Types lines, each when the shell is at its prompt, and returns the screen after them. */
async function type(session: Session, ...lines: string[]): Promise<string[]> {
  await using terminal = await TestTerminal.attach(session);
  await terminal.waitFor(PROMPT);
  let number = numberOf(terminal);
  for (const line of lines) {
    await terminal.type(`${line}\r`);
    await eventually(
      "the next prompt",
      () => numberOf(terminal),
      (next) => next > number,
    );
    number = numberOf(terminal);
  }
  return terminal.screen();
}

/** Returns the number in the last line, when that is a prompt. */
function numberOf(terminal: TestTerminal): number {
  const last = terminal.screen().findLast((line) => line.trim() !== "") ?? "";
  return Number(PROMPT.exec(last)?.[1] ?? 0);
}

async function toldOf(checkpoint: Checkpoint) {
  const { commands } = (await checkpoint.show()).story;
  return (commands ?? [])
    .filter(({ command }) => !command.startsWith("PS1="))
    .map(({ command, exitCode, output }) => [command, exitCode, output]);
}

test("what a person types is told with exit code, duration and output", async () => {
  const session = await open("typed");
  const first = await session.checkpoint();
  await type(
    session,
    "echo out; (exit 3)",
    "sleep 0.3",
    "printf '\\033[31mred\\033[0m\\r\\nend'",
    "seq 3",
  );
  const second = await session.checkpoint();
  const third = await session.checkpoint();

  expect(await toldOf(first)).toEqual([]);
  expect(await toldOf(second)).toEqual([
    ["echo out; (exit 3)", 3, "out\n"],
    ["sleep 0.3", 0, ""],
    ["printf '\\033[31mred\\033[0m\\r\\nend'", 0, "red\nend"],
    ["seq 3", 0, "1\n2\n3\n"],
  ]);
  expect(await toldOf(third)).toEqual([]);
  const { commands } = (await second.show()).story;
  expect(commands?.every(({ by }) => by === "terminal")).toBe(true);
  const sleep = commands?.find(({ command }) => command === "sleep 0.3");
  expect(sleep?.durationMs).toBeGreaterThanOrEqual(300);
  expect(sleep?.durationMs).toBeLessThan(10_000);
});

test("typed and executed commands are told together, each once, in their order", async () => {
  const session = await open("both");
  await session.checkpoint();
  await session.exec("echo one");
  await type(session, "echo two");
  await session.exec("echo three");
  const after = await session.checkpoint();

  expect(await toldOf(after)).toEqual([
    ["echo one", 0, "one\n"],
    ["echo two", 0, "two\n"],
    ["echo three", 0, "three\n"],
  ]);
  expect((await after.show()).story.intent).toEqual({
    ...{ text: "echo three", source: "command", exitCode: 0 },
  });
});

test("a command that runs is told as running, and with its end by the next checkpoint", async () => {
  const session = await open("running");
  await session.checkpoint();
  await using terminal = await TestTerminal.attach(session);
  await terminal.type("echo begun; sleep 1; echo over\r");
  await terminal.waitFor(/^begun$/);
  const during = await session.checkpoint();
  await terminal.waitFor(/^over$/);
  await terminal.waitFor(PROMPT);
  const after = await session.checkpoint();

  expect(await toldOf(during)).toEqual([["echo begun; sleep 1; echo over", null, "begun\n"]]);
  expect(await toldOf(after)).toEqual([["echo begun; sleep 1; echo over", 0, "begun\nover\n"]]);
});

test("after a restore and in a fork what was typed before stays told once", async () => {
  const session = await open("branches");
  await type(session, "echo root");
  const root = await session.checkpoint();
  await type(session, "echo left");
  await session.restore(root);
  await type(session, "echo right");
  const right = await session.checkpoint();
  const [fork] = await root.fork();
  if (fork === undefined) throw new Error("no fork");
  await type(fork, "echo forked");

  expect(await toldOf(root)).toEqual([["echo root", 0, "root\n"]]);
  expect(await toldOf(right)).toEqual([["echo right", 0, "right\n"]]);
  expect(await toldOf(await fork.checkpoint())).toEqual([["echo forked", 0, "forked\n"]]);
});

test("lines of several rows, interrupted ones and other screens are told as they were", async () => {
  const session = await open("odd");
  await session.checkpoint();
  await using terminal = await TestTerminal.attach(session);
  await terminal.waitFor(PROMPT);
  await terminal.type("for n in 1 2\rdo echo $n'\\n'\rdone\r");
  await terminal.waitFor(/^2\\n$/);
  // What is typed before the shell has its terminal back is echoed into the command's output.
  await terminal.waitFor(PROMPT);
  await terminal.type("sleep 100\r");
  // Before the program runs, Ctrl-C would interrupt the line instead.
  await eventually(
    "the program",
    () => session.ps(),
    (all) => all.some(({ command }) => command === "sleep 100"),
  );
  await terminal.type("\u0003");
  await terminal.waitFor(/\^C/);
  await terminal.waitFor(PROMPT);
  await terminal.type("printf 'a\\033[?1049hhidden\\033[?1049lb'; printf '1%%\\r2%%\\n'; false\r");
  await terminal.waitFor(/2%/);
  await terminal.waitFor(PROMPT);

  expect(await toldOf(await session.checkpoint())).toEqual([
    ["for n in 1 2; do echo $n'\\n'; done", 0, "1\\n\n2\\n\n"],
    ["sleep 100", 130, "^C\n"],
    ["printf 'a\\033[?1049hhidden\\033[?1049lb'; printf '1%%\\r2%%\\n'; false", 1, "2%\n"],
  ]);
});

test("what the shell keeps out of its history is not told", async () => {
  const session = await open("secret");
  await session.exec("HISTCONTROL=ignoreboth");
  await session.checkpoint();
  await type(session, " echo hidden", "echo shown");

  expect(await toldOf(await session.checkpoint())).toEqual([["echo shown", 0, "shown\n"]]);
});

test("what a user has set for prompts and traps works, and nothing of ours is seen", async () => {
  const session = await open("own");
  await session.exec(
    "PROMPT_COMMAND+=('last=$?'); PS0+='<ps0>\\n'; trap 'traps+=x' DEBUG; set -u; shopt -s extdebug",
  );
  await session.checkpoint();
  const screen = await type(session, "(exit 7)", "echo last=$last", "set -x", ":", "set +x");
  const told = await toldOf(await session.checkpoint());

  expect(screen.join("\n")).not.toContain("__waypoint_t");
  expect(screen.join("\n")).not.toContain("__waypoint_d");
  expect(screen.join("\n")).toContain("<ps0>");
  expect(told.slice(0, 2).map(([command, exitCode]) => [command, exitCode])).toEqual([
    ["(exit 7)", 7],
    ["echo last=$last", 0],
  ]);
});

test("of a long output the end is kept; what a program reports falsely harms nothing", async () => {
  const session = await open("large");
  await session.checkpoint();
  const control = "/run/waypoint/t/$WAYPOINT_TERMINAL/control";
  await type(
    session,
    "seq 100000",
    `head -c 100000 /dev/zero | tr '\\0' x > ${control}; printf '\\ntyped 0 forged\\\\n\\033[31m\\n' > ${control}`,
    "echo alive",
  );
  const after = await session.checkpoint();
  const { commands } = (await after.show()).story;
  const long = commands?.find(({ command }) => command === "seq 100000");

  expect(long?.output.endsWith("99999\n100000\n")).toBe(true);
  expect(long?.output.length).toBeLessThanOrEqual(64 * 1024);
  expect(long?.outputBytes).toBe(588_895 + 100_000);
  expect(commands?.map(({ command }) => command)).toContain("forged\n\u001b[31m");
  expect((await toldOf(after)).at(-1)).toEqual(["echo alive", 0, "alive\n"]);
  expect(await runInDaemon(own, "true")).toBe("");
});

test("without images it is not known what was typed, and the rest is told", async () => {
  const session = await open("files");
  await session.checkpoint();
  await type(session, "echo one");
  await session.exec("echo two");
  const files = await session.checkpoint({ filesOnly: true });
  const full = await session.checkpoint();

  expect(await toldOf(files)).toEqual([["echo two", 0, "two\n"]]);
  const { unknown } = (await files.show()).story;
  expect(unknown["commands that were typed"]).toContain("files alone");
  expect((await full.show()).story.unknown).toEqual({});
});
