import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
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
