import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session, TaskOutcome } from "../../src/index.ts";
import { runCommand } from "../support/command-line.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const failsWith = (code: string) => expect.objectContaining({ code });

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "work", net: "none" });
  await session.state.set("position", "begun");
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

const waypoint = (...words: string[]) => runCommand(own.stateDir, words);

test("tasks: the next one, those in between, and what a restore brings back", async () => {
  await session.tasks.add({ title: "first" });
  await session.tasks.add({ title: "second", id: "b", after: ["1"] });
  await expect(session.tasks.add({ title: "third", after: ["none"] })).rejects.toEqual(
    failsWith("USAGE_INVALID"),
  );
  expect(await session.tasks.begin()).toMatchObject({ id: "1", attempts: 1 });
  await expect(session.tasks.begin("b")).rejects.toEqual(failsWith("TASK_NOT_READY"));
  await expect(session.tasks.begin("c")).rejects.toEqual(failsWith("TASK_NOT_FOUND"));
  const at = await session.checkpoint();
  expect(at.info.task).toBe("1 first");
  expect((await waypoint("log", "work")).stdout).toContain("[1 first]");

  await session.tasks.set("1", { status: "completed", result: { rows: 12 } });
  expect((await session.tasks.next())?.id).toBe("b");
  const { stdout } = await waypoint("task", "work");
  expect(stdout).toContain("✓ completed");
  expect(stdout).toContain("Next: b");
  await session.restore(at, { only: "state" });
  expect(await session.tasks.list()).toMatchObject([
    { id: "1", status: "in-progress", result: null },
    { id: "b", status: "pending", dependsOn: ["1"] },
  ]);

  const done: string[] = [];
  await session.tasks.run(async ({ id }) => done.push(id));
  expect(done).toEqual(["1", "b"]);
  expect(await session.tasks.begin()).toBeUndefined();
  expect((await session.tasks.list())[0]).toMatchObject({ attempts: 2, result: 1 });
});

test("the end of a task and what is said of it are kept in one step, or not at all", async () => {
  await session.state.set("said", []);
  await session.tasks.add({ id: "once", title: "say it" });
  await session.tasks.add({ id: "twice", title: "say it again", after: ["once"] });
  await session.tasks.begin("once");
  const end: TaskOutcome = { status: "completed", result: 1, append: { said: ["one"] } };
  const refused: TaskOutcome[] = [{ append: { position: ["x"] } }, { state: { tasks: [] } }];
  for (const wrong of refused) {
    await expect(session.tasks.set("once", { ...end, ...wrong })).rejects.toEqual(
      failsWith("USAGE_INVALID"),
    );
    expect((await session.tasks.list()).at(-2)).toMatchObject({ status: "in-progress" });
    expect(await session.state.get("said")).toEqual([]);
  }
  expect(await session.tasks.set("once", end)).toMatchObject({ status: "completed", result: 1 });
  expect(await session.state.get("said")).toEqual(["one"]);

  const failing = session.tasks.run(async (_task, atEnd) => {
    atEnd.append("said", ["never kept"]);
    throw new Error("no route");
  });
  await expect(failing).rejects.toThrow("no route");
  await session.tasks.run(async ({ id }, atEnd) => {
    atEnd.append("said", [id]);
    atEnd.append("said", ["and more"]);
    atEnd.set("position", { after: id });
  });
  expect(await session.state.get("said")).toEqual(["one", "twice", "and more"]);
  expect(await session.state.get("position")).toEqual({ after: "twice" });

  const typed = await waypoint(
    ...["task", "set", "work", "twice", "--append", 'said={"by":"hand"}', "--state", "position=7"],
  );
  expect(typed.exitCode).toBe(0);
  expect(await session.state.get("said")).toEqual(["one", "twice", "and more", { by: "hand" }]);
  expect(await session.state.get("position")).toBe(7);
});

test("a plan is added once, in one step, however often an agent begins", async () => {
  const at = await own.waypoint.new({ name: "planned", net: "none" });
  const plan = [
    { id: "a", title: "first" },
    { id: "b", title: "second", after: ["a"] },
  ];
  expect(await at.tasks.plan(plan)).toHaveLength(2);
  await at.tasks.begin("a");
  await at.tasks.set("a", { status: "completed" });
  const again = await at.tasks.plan([...plan, { id: "c", title: "third", after: ["b"] }]);
  expect(again.map(({ id, status, dependsOn }) => [id, status, dependsOn])).toEqual([
    ["a", "completed", []],
    ["b", "pending", ["a"]],
    ["c", "pending", ["b"]],
  ]);
  const wrong = [
    { id: "d", title: "fourth" },
    { id: "e", title: "fifth", after: ["nowhere"] },
  ];
  await expect(at.tasks.plan(wrong)).rejects.toEqual(failsWith("USAGE_INVALID"));
  await expect(at.tasks.plan([{ title: "without" } as never])).rejects.toEqual(
    failsWith("USAGE_INVALID"),
  );
  expect(await at.tasks.list()).toHaveLength(3);
  await at.remove({ force: true });
});

test("a list of tasks that cannot be, and a status that is none, are refused, and nothing is kept", async () => {
  const before = await session.tasks.list();
  const circle = [
    { id: "a", dependsOn: ["b"] },
    { id: "b", dependsOn: ["a"] },
  ];
  await expect(session.state.set("tasks", circle)).rejects.toMatchObject({
    code: "USAGE_INVALID",
    message: expect.stringContaining("depend on each other"),
  });
  await expect(session.state.append("tasks", [{ id: "z", status: "lost" }])).rejects.toEqual(
    failsWith("USAGE_INVALID"),
  );
  await expect(session.tasks.set("once", { status: "lost" as never })).rejects.toEqual(
    failsWith("USAGE_INVALID"),
  );
  const missing = await waypoint("task", "set", "work", "nowhere", "completed");
  expect(missing.exitCode).toBe(10);
  const typed = await waypoint("task", "set", "work", "once", "lost");
  expect(typed.exitCode).toBe(2);
  expect(typed.stderr).toContain("completed");
  const round: Record<string, unknown> = {};
  round["self"] = round;
  await expect(session.state.set("round", round)).rejects.toEqual(failsWith("USAGE_INVALID"));
  await expect(session.state.set("number", 1n)).rejects.toEqual(failsWith("USAGE_INVALID"));
  expect(await session.tasks.list()).toEqual(before);
});
