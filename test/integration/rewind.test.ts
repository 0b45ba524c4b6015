import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Checkpoint, Session } from "../../src/index.ts";
import { runCommand, WAYPOINT_COMMAND } from "../support/command-line.ts";
import { TestTerminal } from "../support/test-terminal.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { Tmux } from "../support/tmux.ts";

const ESCAPE = "\u001b";
const UP = `${ESCAPE}[A`;
const DOWN = `${ESCAPE}[B`;
const HOME = `${ESCAPE}[H`;
const CTRL_C = "\u0003";

let own: TestWaypoint;
let session: Session;
let first: Checkpoint;
let second: Checkpoint;
let third: Checkpoint;
const terminals: Tmux[] = [];

beforeAll(async () => {
  own = await openTestWaypoint();
});

beforeEach(async () => {
  // Without this machine's start-up files: what their prompt runs would be in the checkpoints.
  session = await own.waypoint.new({ name: "web", env: { HOME: "/nonexistent" } });
  await session.exec("echo one > /root/one");
  first = await session.checkpoint({ intent: "first step" });
  await session.exec("echo two > /root/two");
  second = await session.checkpoint({ intent: "second step" });
  await session.exec("echo three > /root/three");
  third = await session.checkpoint({ intent: "third step" });
  await session.exec("echo four > /root/four");
});

afterEach(async () => {
  for (const terminal of terminals.splice(0)) await terminal[Symbol.asyncDispose]();
  for (const { id } of await own.waypoint.sessions()) {
    await (await own.waypoint.session(id)).remove({ force: true });
  }
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** A person at a terminal runs `waypoint rewind`, and sees its exit code when it has ended. */
async function rewind(
  size: { columns: number; rows: number } = { columns: 140, rows: 40 },
  environment = "",
): Promise<Tmux> {
  const command = `${environment} ${WAYPOINT_COMMAND} --dir ${own.stateDir} rewind web`;
  // A shell, so that a signal to the picker leaves the screen to be looked at.
  const after = "code=$?; stty -a | grep -o -e '-*icanon'; echo left=$code; exec sleep 100000";
  const terminal = await Tmux.start(`echo before; ${command}; ${after}`, size);
  terminals.push(terminal);
  await terminal.shows(/rewind web: 3 checkpoints/);
  return terminal;
}

/** The line with the bar. */
function selectedLine(screen: string): string {
  return screen.split("\n").find((line) => line.startsWith("> ")) ?? "";
}

test("it shows the tree with the newest selected, and what a restore would change", async () => {
  const terminal = await rewind();

  const screen = await terminal.shows(/\/root\/four/);
  expect(selectedLine(screen)).toContain("third step");
  expect(screen).toMatch(/first step.*\n[\s\S]*second step.*\n[\s\S]*third step/);
  expect(screen).not.toContain("/root/three");

  await terminal.type(UP);
  const above = await terminal.shows(/\/root\/three/);
  expect(selectedLine(above)).toContain("second step");
  expect(above).toContain("/root/four");
  expect(above).toContain("It goes back over 1 checkpoint:");
  expect(above).not.toContain("/root/two");

  await terminal.type(HOME);
  await terminal.shows(/> .*first step/);
  await terminal.shows(/\/root\/two/);
  await terminal.type(DOWN);
  await terminal.shows(/> .*second step/);
});

test("Enter restores after a question that shows what it does, and says how to undo", async () => {
  const terminal = await rewind();
  await terminal.type(UP);
  await terminal.shows(/> .*second step/);
  await terminal.type("\r");
  await terminal.shows(/Put it back to \w+\? What it has now is checkpointed first\. \[y\/N\]/);
  await terminal.shows(/\/root\/three/);
  await terminal.type("n");
  await terminal.shows(/↑↓ move/);
  expect((await session.exec("ls /root/four")).exitCode).toBe(0);

  await terminal.type("\r");
  await terminal.shows(/\[y\/N\]/);
  await terminal.type("y");

  const screen = await terminal.shows(/left=0/);
  expect(screen).toMatch(/^before$/m);
  expect(screen).toContain(`Session web is back at ${second.id}`);
  expect(screen).toContain("waypoint undo web");
  expect(screen).toMatch(
    /^Checked: files that the session wrote, processes, ports are as planned\.$/m,
  );
  expect(screen).not.toContain("rewind web:");
  expect(screen).toMatch(/^icanon$/m);
  expect((await session.exec("cat /root/two; ls /root/three /root/four")).exitCode).not.toBe(0);
  expect((await session.info()).head).toBe(second.id);
});

test("it asks once more where somebody is typing in the session", async () => {
  await using typist = await TestTerminal.attach(session);
  await typist.type("echo half a li");
  await typist.waitFor(/half a li/);
  const terminal = await rewind();
  await terminal.type(UP);
  await terminal.shows(/> .*second step/);
  await terminal.type("\r");
  await terminal.shows(/\[y\/N\]/);
  await terminal.type("y");
  await terminal.shows(/Somebody is typing in web .*Put it back all the same\? \[y\/N\]/);
  await terminal.type("y\r");

  await terminal.shows(/left=0/);
  expect((await session.info()).head).toBe(second.id);
});

test("a search shows only what fits, and Escape shows all again", async () => {
  const terminal = await rewind();

  await terminal.type("/second");
  await terminal.shows(/^Search: second/m);
  await terminal.type("\r");

  const found = await terminal.shows(/1 checkpoint with "second"/);
  expect(selectedLine(found)).toContain("second step");
  expect(found).not.toContain("third step");
  await terminal.type("/-at-all\r");
  await terminal.shows(/No checkpoint has "second-at-all"/);
  await terminal.type(ESCAPE);
  await terminal.shows(/rewind web: 3 checkpoints\s*$/m);
});

test("f forks, v verifies with the last command, and the screen tells of both", async () => {
  const terminal = await rewind();

  await terminal.type("f");
  const forked = await terminal.shows(/Session \S+ was forked from/);
  const name = /Session (\S+) was forked/.exec(forked)?.[1] ?? "";
  const fork = await own.waypoint.session(name);
  expect((await fork.exec("cat /root/three")).stdout).toBe("three\n");

  await terminal.type("v");
  await terminal.shows(/^Verify \w+ with:/m);
  await terminal.type("test -e /root/three\r");
  await terminal.shows(/✓ test -e \/root\/three/);
  await terminal.type(UP);
  await terminal.type("v\r");
  await terminal.shows(/✗ test -e \/root\/three, exit code 1/);
  expect((await second.show()).verification?.exitCode).toBe(1);
  expect((await third.show()).verification?.exitCode).toBe(0);
});

test("d shows the diff in a pager and comes back", async () => {
  const terminal = await rewind();
  await terminal.shows(/\/root\/four/);

  await terminal.type("d");
  await terminal.shows(/-four/);
  await terminal.type("q");

  await terminal.shows(/rewind web: 3 checkpoints/);
  await terminal.type(UP);
  await terminal.shows(/> .*second step/);
});

test("it follows the size of the terminal: beside, below, hidden", async () => {
  const terminal = await rewind();
  await terminal.shows(/ │ .*What web has now/);

  await terminal.resize(80, 30);
  const below = await terminal.shows(/^What web has now/m);
  expect(below).toMatch(/^─{80}$/m);
  await terminal.resize(60, 12);
  await eventually(
    "the preview to be hidden",
    () => terminal.screen(),
    (screen) => !screen.includes("What web has now") && screen.includes("third step"),
  );
  await terminal.type("\r");
  await terminal.shows(/^What web has now/m);
  await terminal.type(ESCAPE);
  await terminal.resize(38, 12);
  await terminal.shows(/third/);
  await terminal.resize(140, 40);
  await terminal.shows(/ │ .*What web has now/);
});

test("q, Ctrl-C and signals leave the terminal as it was, and the session too", async () => {
  for (const [key, exitCode] of [
    ["q", 0],
    [CTRL_C, 0],
    [ESCAPE, 0],
  ] as const) {
    const terminal = await rewind();
    await terminal.type(key);
    const screen = await terminal.shows(new RegExp(`left=${exitCode}`));
    expect(screen).toMatch(/^before$/m);
    expect(screen).not.toContain("rewind web:");
    expect(await terminal.variable("alternate_on")).toBe("0");
    expect(await terminal.variable("cursor_flag")).toBe("1");
    expect(screen).toMatch(/^icanon$/m);
  }
  for (const signal of ["SIGTERM", "SIGHUP"] as const) {
    const terminal = await rewind();
    const pane = await terminal.variable("pane_pid");
    // The picker alone, and not the shell that shows what it leaves.
    const [picker] = readFileSync(`/proc/${pane}/task/${pane}/children`, "utf8").split(" ");
    process.kill(Number(picker), signal);
    const screen = await terminal.shows(/left=\d+/);
    expect(screen).not.toContain("rewind web:");
    expect(await terminal.variable("alternate_on")).toBe("0");
    expect(screen).toMatch(/^icanon$/m);
  }
  expect((await session.info()).head).toBe(third.id);
});

test("a crash leaves the terminal as it was, and says what it was", async () => {
  const scratch = mkdtempSync(path.join(os.tmpdir(), "waypoint-rewind-"));
  const now = path.join(scratch, "now");
  const source = `import { existsSync } from "node:fs";
    const look = () => { if (existsSync(${JSON.stringify(now)})) throw new Error("it crashed"); };
    setInterval(look, 20).unref();`;
  writeFileSync(path.join(scratch, "crash.mjs"), source);
  const terminal = await rewind(undefined, `NODE_OPTIONS=--import=${scratch}/crash.mjs`);

  writeFileSync(now, "");

  const screen = await terminal.shows(/left=[1-9]/);
  expect(screen).toContain("it crashed");
  expect(screen).not.toContain("rewind web:");
  expect(await terminal.variable("alternate_on")).toBe("0");
  expect(await terminal.variable("cursor_flag")).toBe("1");
  expect(screen).toMatch(/^icanon$/m);
  rmSync(scratch, { recursive: true });
});

test("help tells the keys; NO_COLOR has no colours", async () => {
  const terminal = await rewind({ columns: 120, rows: 30 }, "NO_COLOR=1");
  await terminal.shows(/\/root\/four/);

  const escapes = await terminal.screen({ escapes: true });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is looked for.
  expect(escapes).not.toMatch(/\u001b\[[0-9;]*[1-9][0-9;]*m/);
  expect(selectedLine(escapes)).toContain("third step");
  await terminal.type("?");
  await terminal.shows(/take the search back, then leave/);
  await terminal.type("x");
  await terminal.shows(/> .*third step/);
});

test("hostile names are shown, not obeyed", async () => {
  await session.exec("touch $'/root/evil\\e]0;owned\\a\\e[2Jname'");
  await session.checkpoint({ intent: "\u001b[2Jwiped \u001b]0;owned\u0007" });
  const command = `${WAYPOINT_COMMAND} --dir ${own.stateDir} rewind web`;
  const terminal = await Tmux.start(command, { columns: 160, rows: 40 });
  terminals.push(terminal);

  const screen = await terminal.shows(/wiped/);
  await terminal.type(UP);
  await terminal.shows(/evil/);

  expect(screen).toContain("␛[2Jwiped");
  expect(await terminal.variable("pane_title")).not.toContain("owned");
});

test("without a terminal it is refused and nothing happens", async () => {
  const refused = await runCommand(own.stateDir, ["rewind", "web"]);
  const json = await runCommand(own.stateDir, ["--json", "rewind", "web"]);

  expect(refused.exitCode).toBe(2);
  expect(refused.stderr).toContain("needs a terminal");
  expect(JSON.parse(json.stderr).error.code).toBe("USAGE_INVALID");
  expect((await session.info()).head).toBe(third.id);
  expect(first.id).not.toBe(third.id);
});
