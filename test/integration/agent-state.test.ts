import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session, TaskOutcome } from "../../src/index.ts";
import { runCommand } from "../support/command-line.ts";
import { killDaemon } from "../support/crash-model.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const failsWith = (code: string) => expect.objectContaining({ code });
const KEY = `sk-${"pLanTed9".repeat(4)}`;

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  process.env["WAYPOINT_REDACT"] = "corp-[a-z]+";
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "work", net: "none" });
});

afterAll(async () => {
  delete process.env["WAYPOINT_REDACT"];
  await own?.[Symbol.asyncDispose]();
});

const waypoint = (...words: string[]) => runCommand(own.stateDir, words);
const json = async (...words: string[]) =>
  JSON.parse((await waypoint(...words, "--json")).stdout) as Record<string, unknown>;

test("a checkpoint has the state of its moment; a restore, a fork and an undo bring it", async () => {
  await session.state.append("conversation", [{ role: "user", content: "hello" }]);
  await session.exec("echo one > /srv/step");
  const one = await session.checkpoint({ name: "one", state: { position: { step: 1 } } });
  await session.state.append("conversation", [{ role: "assistant", content: "done" }]);
  await session.state.set("position", { step: 2 });
  await session.exec("echo two > /srv/step");

  const plan = await session.planRestore(one);
  expect(plan.state.map(({ key, now, restored }) => [key, now?.items, restored?.items])).toEqual([
    ["conversation", 2, 1],
    ["position", null, null],
  ]);
  const shown = await waypoint("restore", "work", "one", "--dry-run");
  expect(shown.stdout).toContain("~ conversation: 2 items now, 1 item then");
  await session.restore(one);
  expect(await session.state.get("conversation")).toEqual([{ role: "user", content: "hello" }]);
  expect(await session.state.get("position")).toEqual({ step: 1 });

  await session.undo();
  expect(await session.state.get("position")).toEqual({ step: 2 });
  const [fork] = await one.fork(1, { name: "try" });
  expect(await fork?.state.get("position")).toEqual({ step: 1 });
  await fork?.state.set("position", { step: 9 });
  expect(await session.state.get("position")).toEqual({ step: 2 });
  await fork?.remove({ force: true });
});

test("the machine alone, the state alone: each leaves the other as it is, also in an undo", async () => {
  const before = await session.exec("cat /srv/step");
  await session.restore("one", { only: "machine" });
  expect((await session.exec("cat /srv/step")).stdout).toBe("one\n");
  expect(await session.state.get("position")).toEqual({ step: 2 });
  await session.state.set("position", { step: 3 });
  await session.undo();
  expect((await session.exec("cat /srv/step")).stdout).toBe(before.stdout);
  expect(await session.state.get("position")).toEqual({ step: 3 });

  const told = await waypoint("restore", "work", "one", "--only", "state", "--yes");
  expect(told.stdout).toContain("the machine goes on");
  expect(await session.state.get("position")).toEqual({ step: 1 });
  expect((await session.exec("cat /srv/step")).stdout).toBe(before.stdout);
  await session.undo();
  expect(await session.state.get("position")).toEqual({ step: 3 });
});

test("a session that does not run has its agent's state put back all the same", async () => {
  const stopped = await own.waypoint.new({ name: "still", net: "none" });
  await stopped.state.set("position", 1);
  const at = await stopped.checkpoint();
  await stopped.state.set("position", 2);
  await stopped.stop({ checkpoint: true });
  await stopped.state.set("position", 3);
  await stopped.restore(at, { only: "state" });
  expect(await stopped.state.get("position")).toBe(1);
  await stopped.state.set("position", 4);
  await stopped.start();
  expect(await stopped.state.get("position")).toBe(4);
  await stopped.remove({ force: true });
});

test("the command line keeps, shows and removes values", async () => {
  const file = path.join(own.stateDir, "given.json");
  writeFileSync(file, '["b", "c"]');
  await waypoint("state", "work", "--set", 'list=["a"]', "--schema", "mine@2");
  await waypoint("state", "work", "--append", `list=@${file}`);
  expect(await json("state", "work", "list")).toMatchObject({
    ...{ value: ["a", "b", "c"], schema: { name: "mine", version: 2 }, items: 3 },
  });
  await waypoint("checkpoint", "work", "--name", "listed", "--state", "more=true");
  await waypoint("state", "work", "--remove", "list", "--remove", "more");
  expect((await waypoint("state", "listed", "more")).stdout).toBe("true\n");
  expect((await waypoint("state", "work", "more")).exitCode).toBe(10);
  const { agentState } = (await json("show", "listed")) as { agentState: { keys: object[] } };
  expect(agentState.keys).toContainEqual(expect.objectContaining({ key: "list", items: 3 }));

  const wrong = await waypoint("state", "work", "--set", "a={not json}");
  expect(wrong.exitCode).toBe(2);
  expect(wrong.stderr).toContain("no JSON");
  execFileSync("truncate", ["--size=500M", file]);
  const huge = await waypoint("checkpoint", "work", "--state", `a=@${file}`);
  expect(huge.exitCode).toBe(2);
  expect(huge.stderr).toContain("500.0 MiB");
});

test("of two agents that write one state, the second is told, and nothing of its change is kept", async () => {
  const { version } = await session.state.keys();
  await session.state.set("position", "the first's");
  const late = session.state.update({ ifVersion: version, set: { position: { value: "late" } } });

  await expect(late).rejects.toEqual(failsWith("STATE_CONFLICT"));
  expect(await session.state.get("position")).toBe("the first's");
  await expect(session.state.set("x", "y".repeat(16 * 1024 ** 2))).rejects.toEqual(
    failsWith("STATE_TOO_LARGE"),
  );
});

test("a value of an older version goes through migrations, a newer one is refused", async () => {
  const schema = (version: number) => ({ name: "planner", version });
  await session.state.set("plan", ["a"], { schema: schema(1) });
  const migrations = {
    1: (steps: string[]) => ({ steps }),
    2: (plan: object) => ({ ...plan, isPaused: false }),
  };
  const read = { schema: schema(3), migrations };
  expect(await session.state.get("plan", read)).toEqual({ steps: ["a"], isPaused: false });
  await session.state.set("plan", {}, { schema: schema(4) });
  await expect(session.state.get("plan", read)).rejects.toEqual(failsWith("FORMAT_TOO_NEW"));
});

test("tasks: the next one, those in between, and what a restore brings back", async () => {
  await session.tasks.add({ title: "first" });
  await session.tasks.add({ title: "second", id: "b", after: ["1"] });
  await expect(session.tasks.add({ title: "third", after: ["none"] })).rejects.toEqual(
    failsWith("USAGE_INVALID"),
  );
  expect(await session.tasks.begin()).toMatchObject({ id: "1", attempts: 1 });
  await expect(session.tasks.begin("b")).rejects.toEqual(failsWith("USAGE_INVALID"));
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
  const typed = await waypoint("task", "set", "work", "once", "lost");
  expect(typed.exitCode).toBe(2);
  expect(typed.stderr).toContain("completed");
  const round: Record<string, unknown> = {};
  round["self"] = round;
  await expect(session.state.set("round", round)).rejects.toEqual(failsWith("USAGE_INVALID"));
  await expect(session.state.set("number", 1n)).rejects.toEqual(failsWith("USAGE_INVALID"));
  expect(await session.tasks.list()).toEqual(before);
});

test("a daemon that is killed has kept what it said it had", async () => {
  await session.state.append("conversation", [{ role: "user", content: "before the kill" }]);
  await killDaemon(await own.daemonPid());
  expect(JSON.stringify(await session.state.get("conversation"))).toContain("before the kill");
});

test("a planted key is found nowhere in the state directory", async () => {
  await session.state.append("conversation", [{ role: "user", content: `use ${KEY}` }]);
  await session.state.set("corp-secret", { note: "corp-hush" });
  await session.tasks.add({ title: `log in with ${KEY}` });
  await session.checkpoint({ filesOnly: true, intent: `with ${KEY}`, agentSaid: `took ${KEY}` });

  expect(JSON.stringify(await session.state.get("conversation"))).toContain("use [redacted]");
  expect(JSON.stringify(await session.state.get("corp-secret"))).toBe('{"note":"[redacted]"}');
  const found = execFileSync("sh", [
    "-c",
    'find "$0" -xdev -type f -size -64M | xargs -d "\\n" grep -la -e "$1" -e corp-hush || true',
    ...[own.stateDir, KEY],
  ]);
  expect(found.toString()).toBe("");
});

test("what no moment needs any more is removed with a session", async () => {
  const count = () => {
    const file = new DatabaseSync(path.join(own.stateDir, "agent/objects.sqlite"), {
      readOnly: true,
    });
    const row = file.prepare("SELECT count(*) AS count FROM objects").get();
    file.close();
    return Number(row?.["count"]);
  };
  const large = await own.waypoint.new({ name: "large", net: "none" });
  const noise = Array.from({ length: 100 }, () => crypto.randomUUID().repeat(90));
  await large.state.set("noise", noise);
  await large.checkpoint({ filesOnly: true });
  const before = await session.state.get("conversation");
  const grown = count();
  await large.remove({ force: true });
  await eventually("what nobody needs is gone", count, (left) => left <= grown - 100);
  expect(await session.state.get("conversation")).toEqual(before);
});
