import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { runCommand } from "../support/command-line.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;
let session: Session;
const waypoint = (...words: string[]) => runCommand(own.stateDir, words);
const lessonsOf = async (at: Session) =>
  (await at.lessons()).decisions.map(({ choice }) => choice).sort();

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "work", net: "none" });
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

test("after going back, what was decided on the branch that was left is known", async () => {
  const start = await session.checkpoint({ name: "start" });
  await session.tasks.add({ title: "choose a store" });
  await session.tasks.begin();
  await session.exec("echo sqlite > /srv/choice");
  const made = { choice: "SQLite", reason: "no server", alternatives: ["Postgres"] };
  expect(await session.decide(made)).toMatchObject({
    ...{ task: "1 choose a store", command: "echo sqlite > /srv/choice", checkpoint: null },
  });
  await session.exec("true");
  const taken = await session.checkpoint();
  expect((await taken.show()).decisions).toMatchObject([
    { choice: "SQLite", checkpoint: taken.id },
  ]);
  expect((await waypoint("show", taken.id)).stdout).toContain("why: no server");
  await waypoint("note", "work", "-m", "it is too slow", "--reason", "40 s a run");
  expect(await lessonsOf(session)).toEqual([]);

  await session.restore(start);
  expect(await lessonsOf(session)).toEqual(["SQLite", "it is too slow"]);
  const { stdout } = await waypoint("lessons", "work", "--grep", "SLOW");
  expect(stdout).toContain("it is too slow");
  expect(stdout).not.toContain("SQLite");
  expect((await session.lessons()).account).toBe(
    "- SQLite: no server\n- it is too slow: 40 s a run",
  );

  await session.decide({ choice: "Redis" });
  await session.undo();
  expect(await lessonsOf(session)).toEqual(["Redis"]);
  expect((await session.lessons({ all: true })).decisions).toHaveLength(3);
});

test("the timeline tells decisions where they were made, and a search finds them", async () => {
  const all = await session.log({ decisions: true });
  const choices = all.decisions.map(({ choice, isLeft }) => [choice, isLeft]);
  expect(choices).toEqual([
    ["SQLite", false],
    ["it is too slow", false],
    ["Redis", true],
  ]);
  expect((await session.log()).decisions).toEqual([]);
  const { stdout } = await waypoint("log", "work", "--decisions");
  const lines = stdout.split("\n");
  const decided = lines.findIndex((line) => line.includes("decided SQLite: no server"));
  expect(lines[decided]).toContain("at task 1 choose a store; after $ echo sqlite > /srv/choice");
  // Between the checkpoint before it and the one after it.
  expect(lines.findIndex((line) => line.includes("start"))).toBeLessThan(decided);
  const after = all.decisions[0]?.checkpoint?.slice(0, 6) ?? "none";
  expect(lines.findIndex((line) => line.includes(after))).toBeGreaterThan(decided);
  expect(stdout).toContain("decided Redis (");

  const found = await session.log({ grep: "NO SERVER" });
  expect(found.decisions.map(({ choice }) => choice)).toEqual(["SQLite"]);
  expect(found.checkpoints.map(({ id }) => id)).toEqual([found.decisions[0]?.checkpoint]);
  const everywhere = await own.waypoint.log({ decisions: true, tag: "none" });
  expect(everywhere.decisions).toEqual([]);
  const json = await waypoint("log", "--decisions", "--json");
  expect(JSON.parse(json.stdout).decisions).toHaveLength(3);
});

test("forks learn from each other; what was decided before the fork is their own past", async () => {
  await session.decide({ choice: "before the fork" });
  const at = await session.checkpoint();
  const [one, other] = await at.fork(2, { name: "try" });
  if (one === undefined || other === undefined) throw new Error("no forks");
  await one.decide({ choice: "tried one" });
  expect(await lessonsOf(other)).toEqual(["Redis", "tried one"]);
  expect(await lessonsOf(one)).toEqual(["Redis"]);
  // What a branch has found out outlives it, as long as another one is left.
  await one.remove({ force: true });
  expect(await lessonsOf(other)).toContain("tried one");
  const nobody = await own.waypoint.new({ name: "other", net: "none" });
  expect((await nobody.lessons({ all: true })).decisions).toEqual([]);
  await nobody.remove({ force: true });
  await other.remove({ force: true });
});

test("a note without words is refused, and one of another session's name is not found", async () => {
  expect((await waypoint("note", "work")).exitCode).toBe(2);
  expect((await waypoint("note", "nobody", "-m", "x")).exitCode).toBe(10);
});
