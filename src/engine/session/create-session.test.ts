import { expect, test } from "vitest";
import { type FakeEngine, fakeEngine, type Step } from "../../../test/support/fake-engine.ts";
import { CONTRACT } from "../../shared/protocol/index.ts";
import { createSession } from "./create-session.ts";

function create({ engine }: FakeEngine) {
  const input = CONTRACT.new.input.parse({ name: "web", base: "/base", net: "nat" });
  return createSession(input, engine);
}

test("a session is recorded when its shell runs, and what it begins with is noted", async () => {
  const fake = fakeEngine();

  const session = await create(fake);

  const order = ["store.createInstance id1-1 0", "newLink.openTerminal", "catalog.insertSession"];
  const after = ["catalog.operations.insert", "automatic.begin id1-1", "newLink.terminal 1"];
  const steps = [...order, ...after];
  expect(fake.steps.all.filter((step) => steps.includes(step))).toEqual(steps);
  expect(session).toMatchObject({ id: "id1", name: "web", state: "running" });
  expect(fake.engine.live.get("id1")).toMatchObject({ instanceId: "id1-1", pid: 101 });
});

test.each<Step>([
  "limits.prepareToEnter",
  "sandbox.requireOutsideState",
  "sandbox.checkBase",
  "store.createInstance",
  "network.create",
  "sandbox.mountRoot",
  "sandbox.launchInit",
  "connectInit",
  "catalog.insertSession",
  "catalog.operations.insert",
])("a session whose %s fails leaves nothing, and its name is free", async (step) => {
  const fake = fakeEngine();
  fake.steps.fail(step, undefined, 1);

  await expect(create(fake)).rejects.toThrow(`${step} failed`);

  expect(fake.steps.left()).toEqual([]);
  expect(fake.engine.catalog.sessions()).toEqual([]);
  expect(fake.engine.catalog.instances()).toEqual([]);
  expect(await create(fake)).toMatchObject({ name: "web" });
});

test("a session runs though what it begins with cannot be noted; that is logged", async () => {
  const fake = fakeEngine();
  fake.steps.fail("sandbox.readLiveTasks");

  expect(await create(fake)).toMatchObject({ state: "running" });

  expect(fake.logged).toEqual(["start of a session not noted"]);
});
