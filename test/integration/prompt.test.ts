import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "prompt", net: "none" });
});

afterAll(() => own[Symbol.asyncDispose]());

/** Has the shell run a program before each of its prompts from now on. */
const beforePrompts = (program: string) => session.exec(`PROMPT_COMMAND='${program}'`);

test("what the shell runs before its prompt is no part of the command before it", async () => {
  await beforePrompts("sleep 0.3");
  await session.checkpoint();

  for (const name of ["one", "two"]) {
    await session.exec(`touch /root/${name}`);
    const { changes } = await (await session.checkpoint()).show();
    expect(changes.processes).toMatchObject({ started: [], ended: [] });
  }
});

test("a command that waits for the shell does not wait for the one before it to be answered", async () => {
  await beforePrompts("sleep 0.1");

  const both = await Promise.all([session.exec("echo first"), session.exec("echo second")]);

  expect(both.map(({ stdout }) => stdout)).toEqual(["first\n", "second\n"]);
});

test("a prompt that does not come holds up no answer", async () => {
  const { exitCode } = await beforePrompts(
    "[ -e /root/later ] || { touch /root/later; sleep 987; }",
  );
  expect(exitCode).toBe(0);

  const ended = await session.exec("pkill -f 'slee[p] 987'", { shell: "own" });

  expect(ended.exitCode).toBe(0);
  expect((await session.exec("echo goes on")).stdout).toBe("goes on\n");
});
