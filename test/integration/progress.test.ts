import { afterAll, beforeAll, expect, test } from "vitest";
import { callOperation } from "../../src/surfaces/client/index.ts";
import { TestBases } from "../support/bases.ts";
import { finished, startCommand, WAYPOINT_COMMAND } from "../support/command-line.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { Tmux } from "../support/tmux.ts";

const made = new TestBases();
let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
  await own.waypoint.new({ name: "web" });
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
  made[Symbol.dispose]();
});

test("how far forks and a copy have come is told to whoever calls", async () => {
  const { id } = await own.waypoint.checkpoint("web");
  const told: unknown[] = [];
  const onProgress = (progress: unknown) => void told.push(progress);

  await callOperation(own.stateDir, "fork", { checkpoint: id, count: 2 }, { onProgress });
  expect(told[0]).toEqual({ done: 1, total: 2, unit: "forks" });

  const from = await made.makeBusybox("root");
  told.length = 0;
  await callOperation(own.stateDir, "base.add", { name: "kept", from }, { onProgress });
  expect(told[0]).toEqual({ done: 0, total: null, unit: "bytes" });
});

test.each([
  ["ls", "ls", /^web\b/m],
  ["grep", "grep -F nowhere", /exit 1/],
])("%s that lasts says so on a terminal, and nothing of it stays", async (name, words, said) => {
  const daemonPid = await own.daemonPid();
  process.kill(daemonPid, "SIGSTOP");
  try {
    const line = `${WAYPOINT_COMMAND} --dir ${own.stateDir} ${words}; echo exit $?; read _`;
    await using terminal = await Tmux.start(line, { columns: 300, rows: 40 });
    await terminal.shows(new RegExp(`${name}: \\d+ s`));
    process.kill(daemonPid, "SIGCONT");
    const screen = await terminal.shows(/exit \d/);

    expect(screen).toMatch(said);
    expect(screen).not.toMatch(new RegExp(`${name}: \\d`));
  } finally {
    process.kill(daemonPid, "SIGCONT");
  }
});

test("a pipe hears nothing of it", async () => {
  const daemonPid = await own.daemonPid();
  process.kill(daemonPid, "SIGSTOP");
  const listed = finished(startCommand(own.stateDir, ["ls"]));
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  process.kill(daemonPid, "SIGCONT");

  expect((await listed).stderr).toBe("");
});
