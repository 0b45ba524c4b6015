import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stateLayout } from "../../src/base/index.ts";
import type { ReadStateOptions, Session } from "../../src/index.ts";
import { callOperation } from "../../src/surfaces/client/index.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const FIXTURE = path.join(import.meta.dirname, "../fixtures/planner-v1");
const VERSION_2: ReadStateOptions = {
  schema: { name: "planner", version: 2 },
  migrations: { 1: (steps: string[]) => ({ steps }) },
};
/** What version 3 of the agent reads: each migration was written with its version. */
const VERSION_3: ReadStateOptions = {
  schema: { name: "planner", version: 3 },
  migrations: {
    ...VERSION_2.migrations,
    2: (plan: { steps: string[] }) => ({
      steps: plan.steps.map((name) => ({ name })),
      isPaused: false,
    }),
  },
};
/** A position was a number, then an object, and has the step's name since. */
const POSITION_3: ReadStateOptions = {
  schema: { name: "planner", version: 3 },
  migrations: {
    1: (step: number) => ({ step }),
    2: ({ step }: { step: number }) => ({ step, name: ["fetch", "load", "report"][step] }),
  },
};

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "planner", net: "none" });
  await putInPlace(session);
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** Gives a session the state that lies in the fixture, as a directory of then would have it. */
async function putInPlace({ id }: Session): Promise<void> {
  const pid = await own.daemonPid();
  await callOperation(own.stateDir, "daemon.stop", {});
  const isGone = async () => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  };
  await eventually("the daemon has ended", isGone, (gone) => gone);
  const { catalogPath, agentDir } = stateLayout(own.stateDir);
  mkdirSync(agentDir, { recursive: true, mode: 0o700 });
  copyFileSync(path.join(FIXTURE, "objects.sqlite"), path.join(agentDir, "objects.sqlite"));
  const { agentState } = JSON.parse(readFileSync(path.join(FIXTURE, "session.json"), "utf8"));
  const catalog = new DatabaseSync(catalogPath);
  catalog.prepare("UPDATE sessions SET agentState = ? WHERE id = ?").run(agentState, id);
  catalog.close();
}

test("what version 1 of an agent has left, version 3 resumes through two migrations", async () => {
  expect(await session.state.get("plan")).toEqual(["fetch", "load", "report"]);
  expect(await session.state.get("plan", VERSION_2)).toEqual({
    steps: ["fetch", "load", "report"],
  });
  const plan = await session.state.get("plan", VERSION_3);
  expect(plan).toEqual({
    steps: [{ name: "fetch" }, { name: "load" }, { name: "report" }],
    isPaused: false,
  });
  expect(await session.state.get("position", POSITION_3)).toEqual({ step: 1, name: "load" });

  const done: string[] = [];
  await session.tasks.run(async ({ id }, atEnd) => {
    done.push(id);
    atEnd.append("conversation", [`agent: ${id} is done`]);
    return id;
  });
  expect(done).toEqual(["load", "report"]);
  expect(await session.tasks.list()).toMatchObject([
    { id: "fetch", status: "completed", attempts: 1, result: { rows: 12 } },
    { id: "load", status: "completed", attempts: 2 },
    { id: "report", status: "completed", attempts: 1 },
  ]);
  expect(await session.state.get("conversation")).toEqual([
    "user: make the report",
    "agent: fetched 12 rows",
    "agent: load is done",
    "agent: report is done",
  ]);
});

test("what version 3 keeps is not guessed at by version 2, and a missing migration is told", async () => {
  const at = await session.checkpoint();
  const plan = await session.state.get("plan", VERSION_3);
  if (VERSION_3.schema === undefined) throw new Error("no schema");
  await session.state.set("plan", plan, { schema: VERSION_3.schema });
  await expect(session.state.get("plan", VERSION_2)).rejects.toMatchObject({
    code: "FORMAT_TOO_NEW",
  });
  const gap = { ...POSITION_3, migrations: { 2: (position: object) => position } };
  await expect(session.state.get("position", gap)).rejects.toMatchObject({ code: "USAGE_INVALID" });
  // Going back to what version 1 had is resumed again.
  await session.restore(at, { only: "state" });
  expect(await session.state.get("plan", VERSION_3)).toEqual(plan);
});
