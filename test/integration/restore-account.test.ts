import { afterAll, beforeAll, expect, test } from "vitest";
import type { Checkpoint, Session } from "../../src/index.ts";
import { runCommand } from "../support/command-line.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const HELLO = { role: "user", content: "hello" };
const ACCOUNT = [
  "Known from branches that were left, after going back to start:",
  "- SQLite is too slow: 40 s a run",
].join("\n");

let own: TestWaypoint;
let session: Session;
let start: Checkpoint;
const waypoint = (...words: string[]) => runCommand(own.stateDir, words);
const conversation = () => session.state.get("conversation");
const file = async () => (await session.exec("cat /srv/step")).stdout;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "work", net: "none" });
  await session.state.append("conversation", [HELLO]);
  await session.state.set("position", { step: 1 });
  await session.exec("echo begun > /srv/step");
  start = await session.checkpoint({ name: "start" });
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** Goes on from the start, and learns something. */
async function goOn(): Promise<void> {
  await session.exec("echo changed > /srv/step");
  await session.state.append("conversation", [{ role: "assistant", content: "SQLite it is" }]);
}

test("where nothing was learned on what is left, nothing is appended", async () => {
  await goOn();
  const { account } = await session.restore(start, { account: "conversation" });
  expect(account).toBeNull();
  expect(await conversation()).toEqual([HELLO]);
});

test("a restore tells the conversation what was learned since, and its undo takes that back", async () => {
  await goOn();
  const before = await conversation();
  await session.decide({ choice: "SQLite is too slow", reason: "40 s a run" });

  await session.restore(start);
  expect(await conversation()).toEqual([HELLO]);
  await session.undo();
  const told = await waypoint("restore", "work", "start", "--yes", "--account");
  expect(told.stdout).toContain("Appended to conversation:\n  Known from branches that were left");
  expect(await conversation()).toEqual([HELLO, { role: "system", content: ACCOUNT }]);
  expect(await file()).toBe("begun\n");

  await session.undo();
  expect(await conversation()).toEqual(before);
  expect(await file()).toBe("changed\n");
});

test("the state alone is told, too, with the role that was asked for", async () => {
  const { account } = await session.restore(start, {
    ...{ only: "state", account: "conversation", accountRole: "user" },
  });
  expect(account).toBe(ACCOUNT);
  expect(await conversation()).toEqual([HELLO, { role: "user", content: ACCOUNT }]);
  expect(await file()).toBe("changed\n");
  await session.undo();
});

test("a list that is not there begins with it", async () => {
  await session.restore(start, { account: "learned" });
  expect(await session.state.get("learned")).toEqual([{ role: "system", content: ACCOUNT }]);
  expect(await conversation()).toEqual([HELLO]);
  await session.undo();
  expect(await session.state.get("learned")).toBeUndefined();
});

test("what cannot be appended restores nothing: neither machine nor state", async () => {
  const [before, { pid }] = [await conversation(), await session.info()];
  const checkpoints = (await session.log()).checkpoints.length;
  for (const wrong of [
    { account: "position" },
    { account: "conversation", only: "machine" },
  ] as const) {
    await expect(session.restore(start, wrong)).rejects.toMatchObject({ code: "USAGE_INVALID" });
  }
  const typed = await waypoint("restore", "work", "start", "--yes", "--account", "position");
  expect(typed.exitCode).toBe(2);
  expect(typed.stderr).toContain("is no list");
  expect(typed.stderr).toContain("Nothing was restored.");
  expect(await file()).toBe("changed\n");
  expect(await conversation()).toEqual(before);
  expect((await session.info()).pid).toBe(pid);
  expect((await session.log()).checkpoints).toHaveLength(checkpoints);
});

test("a restore from a standby tells it likewise", async () => {
  await session.standby("16");
  const ready = async () => (await session.standby()).ready;
  await eventually("the start is ready", ready, (checkpoints) => checkpoints.includes(start.id));
  await session.restore(start, { account: "conversation" });
  expect(await conversation()).toEqual([HELLO, { role: "system", content: ACCOUNT }]);
  await session.standby("off");
});
