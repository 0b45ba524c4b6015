import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../support/command-line.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const CLI = new URL("../../dist/cli.cjs", import.meta.url).pathname;

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(() => own[Symbol.asyncDispose]());

const cli = (...words: string[]) => runCommand(own.stateDir, words);

test("the only session is told of: its state, where it stands, and what changed since", async () => {
  const none = await cli("status");
  const session = await own.waypoint.new({ name: "work", net: "none" });
  const fresh = await cli("status");
  const { id } = await session.checkpoint({ intent: "the start" });
  const unchanged = await cli("status", "work");
  await session.exec("echo x > /srv/file");
  const changed = await cli("status");
  const told = JSON.parse((await cli("status", "--json")).stdout);
  const typo = await cli("status", "wrok");

  expect(none.stdout).toContain("You are in no session.\nNo sessions.");
  expect(fresh.stdout).toMatch(/^Checkpoint: +none yet: `waypoint checkpoint work`$/m);
  expect(unchanged.stdout).toMatch(/^State: +running$/m);
  expect(unchanged.stdout).toMatch(new RegExp(`^Checkpoint: +${id}, \\S+ ago: the start$`, "m"));
  expect(unchanged.stdout).toMatch(/^Since then: +nothing changed$/m);
  expect(changed.stdout).toMatch(/^Since then: +\+ \/srv\/file$/m);
  expect(told).toMatchObject({
    ...{ inside: null, session: { name: "work" }, checkpoint: { id } },
    changes: { summary: "+ /srv/file" },
  });
  expect(typo.stderr).toContain("Did you mean work?");
});

test("inside a session it says which, without a daemon; several sessions are listed", async () => {
  const [fork] = await own.waypoint.fork("work", { name: "try" });
  const several = await cli("status");
  const inside = await fork.exec([process.execPath, CLI, "status"]);

  expect(existsSync("/run/waypoint/init")).toBe(false);
  expect(several.stdout).toMatch(/^work .*\ntry /m);
  expect(inside.stdout).toContain("You are inside session try: ");
});

test("no line in a pipe is wider than it should be, however long an intent or a command is", async () => {
  const session = await own.waypoint.new({ name: "wide", net: "none" });
  const intent = "a long intent ".repeat(30).trim();
  const [good, bad] = [await session.checkpoint(), await session.checkpoint({ intent })];
  const command = `true ${"argument ".repeat(30).trim()}`;

  const said = [
    await cli("status", "wide"),
    await cli("describe", bad.id, intent),
    await cli("verify", bad.id, "--", command),
    await cli("bisect", "--trust", good.id, bad.id, "--", "false"),
  ];
  const told = JSON.parse((await cli("status", "wide", "--json")).stdout);

  for (const { stdout } of said) {
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(160);
    expect(stdout).toMatch(/ (a long|argument).*…/);
  }
  expect(said[2]?.stdout).toMatch(/… \(\d.*\)$/m);
  expect(told.checkpoint.intent).toBe(intent);
});
