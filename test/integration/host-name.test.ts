import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { runCommand } from "../support/command-line.ts";
import { failureOf } from "../support/failing-command.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;
let work: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  work = await own.waypoint.new({ name: "work", net: "none" });
  await work.exec("PS1='[\\u@\\h \\W] '; cd /srv");
  await work.checkpoint({ name: "start" });
});

afterAll(() => own[Symbol.asyncDispose]());

const hostOf = async (session: Session) => (await session.exec("hostname")).stdout.trim();

/** The prompt as the shell shows it next. */
const promptOf = async (session: Session) => {
  await session.exec("true");
  // biome-ignore lint/suspicious/noTemplateCurlyInString: bash expands it.
  return (await session.exec("echo ${PS1@P}")).stdout.trim();
};

test("the host and the prompt of a fork carry the fork's name, and the origin's stay", async () => {
  const [one, two] = await own.waypoint.fork("start", { count: 2, name: "try" });

  expect(await hostOf(one)).toBe("try-1");
  expect(await promptOf(one)).toBe("[root@try-1 srv]");
  expect(await hostOf(two as Session)).toBe("try-2");
  expect(await promptOf(work)).toBe("[root@work srv]");
  expect(await hostOf(work)).toBe("work");
});

test("a fork of a fork, and a fork that goes back to its origin's checkpoint, are called as they are", async () => {
  const [first] = await own.waypoint.fork("start", { name: "first" });
  expect(await promptOf(first)).toBe("[root@first srv]");
  const [second] = await (await first.checkpoint()).fork(1, { name: "second" });
  await first.restore("start");

  expect(await promptOf(second)).toBe("[root@second srv]");
  expect(await hostOf(first)).toBe("first");
  expect(await promptOf(first)).toBe("[root@first srv]");
});

test("a session that is renamed has its new name everywhere, and goes on", async () => {
  const [session] = await own.waypoint.fork("start", { name: "before" });
  await session.exec("export MARK=on");
  const renamed = await runCommand(own.stateDir, ["rename", "before", "after"]);
  const taken = await failureOf(own, ["rename", "after", "work"]);
  const wrong = await failureOf(own, ["rename", "after", "a b"]);

  expect(renamed.stdout).toBe("Session before is called after now.\n");
  expect([taken.error.code, wrong.error.code]).toEqual(["NAME_IN_USE", "NAME_INVALID"]);
  expect((await session.info()).name).toBe("after");
  expect((await session.exec("echo $MARK; hostname")).stdout).toBe("on\nafter\n");
  expect((await failureOf(own, ["ps", "before"])).error.code).toBe("SESSION_NOT_FOUND");
});
