import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runShellLine, WAYPOINT_COMMAND } from "../support/command-line.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { Tmux } from "../support/tmux.ts";

/** Names with an escape sequence, a line break and a byte that is no UTF-8; output that would rename the window. */
const HOSTILE = [
  "cd /srv; printf x > \"$(printf 'red\\033[31m\\nline')\"",
  "printf x > \"$(printf 'bad\\377byte')\"; printf '\\033]0;owned\\007\\033[2J\\r\\n\\302\\2332J'",
].join("; ");

let own: TestWaypoint;
let directory: string;

beforeAll(async () => {
  own = await openTestWaypoint();
  directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-pager-"));
  const web = await own.waypoint.new({ name: "web", net: "none", env: { HOME: "/nonexistent" } });
  await web.checkpoint();
  await web.exec(HOSTILE);
  const hostile = await web.checkpoint();
  await hostile.show();
  await web.checkpoint({ intent: "\u001b]0;owned\u0007\nsecond\u009b2Jline" });
  for (let step = 1; step <= 30; step += 1) {
    await web.checkpoint({ filesOnly: true, intent: `step ${step}` });
  }
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

/** Runs a command on a screen of its own; `exit=N` follows it. */
async function onScreen(args: string, size: { columns: number; rows: number }, before = "") {
  const line = `${before} ${WAYPOINT_COMMAND} --dir ${own.stateDir} ${args}; echo "exit=$?"; read _`;
  return await Tmux.start(`sh -c '${line.replaceAll("'", `'\\''`)}'`, size);
}

test("what is longer than the screen is shown in less at the newest; leaving it is no failure", async () => {
  await using terminal = await onScreen("log", { columns: 100, rows: 12 }, "unset PAGER LESS;");
  await terminal.shows(/step 30/);
  expect(await terminal.screen()).not.toContain("exit=");

  await terminal.type("q");

  await terminal.shows(/exit=0/);
});

test("what fits is printed at once", async () => {
  await using terminal = await onScreen("log -n 3", { columns: 100, rows: 30 });

  expect(await terminal.shows(/exit=0/)).toContain("step 30");
});

test("--no-pager prints all at once, and so do a pipe and an empty pager", async () => {
  const size = { columns: 100, rows: 12 };
  await using without = await onScreen("log --no-pager", size);
  await using empty = await onScreen("log", size, "export WAYPOINT_PAGER=;");
  const piped = await runShellLine(own.stateDir, "$W log | cat");

  expect(await without.shows(/exit=0/)).toContain("step 30");
  expect(await empty.shows(/exit=0/)).toContain("step 30");
  expect(piped.stdout.split("\n").length).toBeGreaterThan(30);
});

test("one's own pager gets all of it, and one that is not there is done without", async () => {
  const size = { columns: 100, rows: 12 };
  const seen = path.join(directory, "seen");
  await using mine = await onScreen(
    "log",
    size,
    `export PAGER=false WAYPOINT_PAGER="cat > ${seen}";`,
  );
  await mine.shows(/exit=0/);
  await using missing = await onScreen("log", size, "export WAYPOINT_PAGER=/nonexistent/pager;");

  expect(readFileSync(seen, "utf8").split("\n").length).toBeGreaterThan(30);
  expect(await missing.shows(/exit=0/)).toContain("step 30");
});

test("a pager that reads nothing ends the command, not breaks it, and diff keeps its exit code", async () => {
  const size = { columns: 100, rows: 4 };
  await using none = await onScreen("log", size, "export WAYPOINT_PAGER=true;");
  await none.shows(/exit=0/);
  writeFileSync(path.join(directory, "pager"), "#!/bin/sh\nhead -c 1 >/dev/null\nexit 7\n", {
    mode: 0o755,
  });
  const pager = `export WAYPOINT_PAGER=${directory}/pager;`;
  await using differs = await onScreen("diff web@~32 web /srv", size, pager);

  expect(await differs.shows(/exit=\d/)).toMatch(/exit=1/);
});

test("Ctrl-C is for the pager", async () => {
  const before = "trap : INT; unset PAGER LESS;";
  await using terminal = await onScreen("log", { columns: 100, rows: 12 }, before);
  await terminal.shows(/step 30/);
  await terminal.type("\u0003");

  // A pager that is just being interrupted throws keys away.
  const left = await eventually(
    "the end of the pager",
    async () => {
      await terminal.type("q");
      return await terminal.screen();
    },
    (screen) => /exit=\d/.test(screen),
  );
  expect(left).toMatch(/exit=0/);
});

test("colours are for a terminal that wants them", async () => {
  const size = { columns: 100, rows: 60 };
  await using colours = await onScreen("log", size, "unset NO_COLOR;");
  await using flag = await onScreen("log --no-color", size, "unset NO_COLOR;");
  await using variable = await onScreen("log", size, "export NO_COLOR=1;");
  for (const terminal of [colours, flag, variable]) await terminal.shows(/exit=0/);

  expect(await colours.screen({ escapes: true })).toContain("\u001b[33m");
  expect(await flag.screen({ escapes: true })).not.toContain("\u001b[33m");
  expect(await variable.screen({ escapes: true })).not.toContain("\u001b[33m");
});

test("forty columns are enough, and no line is broken by the terminal", async () => {
  await using terminal = await onScreen("log -n 4", { columns: 40, rows: 30 });

  const screen = await terminal.shows(/exit=0/);

  expect(screen).toMatch(/^\d\d:\d\d {2}○ .{2,4}\w{6} {2}step 30\b/m);
});

test("nothing that a session wrote reaches the terminal as a command", async () => {
  const lines = ["log", "show web@~31", "show web@~31 --section files,commands,terminal"];
  for (const line of [...lines, "show web@~32", "diff web@~32 web /srv --stat"]) {
    const { stdout } = await runShellLine(own.stateDir, `$W ${line}`);

    expect(stdout.length, line).toBeGreaterThan(0);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what must not be there.
    expect(stdout, line).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
  }
  const { stdout } = await runShellLine(own.stateDir, "$W show web@~31 --section files");
  expect(stdout).toContain("+ /srv/red␛[31m␊line");
  expect(stdout).toContain("+ /srv/bad\ufffdbyte");
});
