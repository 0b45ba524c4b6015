import { expect, test } from "vitest";
import { fakeEngine, type Step } from "../../../test/support/fake-engine.ts";
import { checkpointRow, sessionRow } from "../../../test/support/fake-rows.ts";
import { openThrowawayFork } from "./throwaway-fork.ts";

const BIND = { source: "/data", target: "/mnt", readOnly: false };

function engineWithCheckpoint() {
  const fake = fakeEngine();
  fake.engine.catalog.insertSession(sessionRow());
  fake.engine.catalog.insertCheckpoint(checkpointRow());
  fake.steps.forget();
  return fake;
}

test("a throw-away fork is in no catalog of sessions, writes to no bind, and nothing of it is left", async () => {
  const fake = engineWithCheckpoint();
  const checkpoint = checkpointRow({ binds: [BIND] });

  const fork = await openThrowawayFork(checkpoint, { eagerMemory: true }, fake.engine);
  expect(fake.engine.catalog.sessions().map(({ id }) => id)).toEqual(["s1"]);
  expect(fake.engine.live.all()).toEqual([]);
  await fork[Symbol.asyncDispose]();
  await fork.cleared;

  expect(fake.steps.left()).toEqual([]);
  expect(fake.engine.catalog.instances()).toEqual([]);
  expect(fake.steps.all).toContainEqual(expect.stringMatching(/^sandbox.mountBindCopy/));
  expect(fake.steps.all).not.toContainEqual(
    expect.stringMatching(/^(standbys|sandbox.mountBind )/),
  );
});

test.each<Step>([
  "store.space.requireRoom",
  "store.createInstanceFrom",
  "sandbox.mountBindCopy",
  "criu.restore",
  "connectInit",
])("a throw-away fork whose %s fails leaves nothing", async (step) => {
  const fake = engineWithCheckpoint();
  const checkpoint = checkpointRow({ binds: [BIND] });
  fake.steps.fail(step);

  const failing = openThrowawayFork(checkpoint, { eagerMemory: true }, fake.engine);

  await expect(failing).rejects.toThrow(`${step} failed`);
  expect(fake.steps.left()).toEqual([]);
  expect(fake.engine.catalog.instances()).toEqual([]);
});

test("what came of a throw-away fork that cannot be removed is no less true; that is logged", async () => {
  const fake = engineWithCheckpoint();
  const fork = await openThrowawayFork(checkpointRow(), { eagerMemory: true }, fake.engine);
  fake.steps.fail("sandbox.unmountRoot");

  await fork[Symbol.asyncDispose]();
  await fork.cleared;

  expect(fake.logged).toEqual(["remove a throw-away fork"]);
  // The next daemon finds it by its row.
  expect(fake.engine.catalog.instances()).toHaveLength(1);
});

test("whoever throws a fork away waits for the end of its processes, not for what is removed then", async () => {
  const fake = engineWithCheckpoint();
  const fork = await openThrowawayFork(checkpointRow(), { eagerMemory: true }, fake.engine);
  const unmounting = Promise.withResolvers<void>();
  fake.steps.answer("sandbox.unmountRoot", () => unmounting.promise);

  await fork[Symbol.asyncDispose]();
  expect(fake.steps.left()).not.toContain("tree 101");
  expect(fake.engine.catalog.instances()).toHaveLength(1);

  unmounting.resolve();
  await fork.cleared;
  expect(fake.engine.catalog.instances()).toEqual([]);
});
