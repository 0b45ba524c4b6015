import { afterAll, beforeAll, expect, test } from "vitest";
import { WAYPOINT_COMMAND } from "../support/command-line.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { Tmux } from "../support/tmux.ts";

/** Without the start-up files of this machine's user, whose prompt may run programs. */
const PLAIN_SHELL = { env: { HOME: "/nonexistent" } };
const FORKED = /^Session (\S+) was forked from/m;

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** A person at a terminal runs `waypoint rewind`, and sees its exit code when it has ended. */
async function rewind(session: string): Promise<Tmux> {
  const command = `${WAYPOINT_COMMAND} --dir ${own.stateDir} rewind ${session}`;
  const terminal = await Tmux.start(`${command}; echo left=$?; exec sleep 100000`, {
    columns: 140,
    rows: 40,
  });
  await terminal.shows(/rewind \S+: 1 checkpoint/);
  return terminal;
}

async function expectRunning(screen: string): Promise<string> {
  const name = FORKED.exec(screen)?.[1] ?? "";
  expect((await (await own.waypoint.session(name)).info()).state).toBe("running");
  return name;
}

test("a fork is told of after the picker was left, too, also one that was under way", async () => {
  const session = await own.waypoint.new({ ...PLAIN_SHELL, name: "left" });
  await session.checkpoint();
  await using terminal = await rewind("left");
  await terminal.type("fq");

  const screen = await terminal.shows(/left=0/);
  expect(screen).not.toContain("rewind left:");
  await expectRunning(screen);
});

test("f tells of its fork also where the session has been removed meanwhile", async () => {
  const session = await own.waypoint.new({ ...PLAIN_SHELL, name: "gone" });
  // What a fork descends from outlives its session.
  const [kept] = await (await session.checkpoint()).fork(1);
  await using terminal = await rewind("gone");
  await session.remove({ force: true });

  await terminal.type("f");
  const name = await expectRunning(await terminal.shows(FORKED));
  expect(name).not.toBe(kept?.name);
});
