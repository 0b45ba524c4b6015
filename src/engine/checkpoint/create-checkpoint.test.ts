import { expect, test } from "vitest";
import type { FakeEngine, Step } from "../../../test/support/fake-engine.ts";
import {
  checkpointsOf,
  engineWithSession,
  SESSION,
  underLease,
  WITH_BIND,
} from "../../../test/support/fake-session.ts";
import type { CheckpointOptions } from "./checkpoint-row.ts";
import { createCheckpoint } from "./create-checkpoint.ts";

const BY_HAND: CheckpointOptions = {
  ...{ trigger: "manual", intent: "try", name: "one", filesOnly: false, movesHead: true },
};

/** Takes a checkpoint of the session. */
function take(
  fake: FakeEngine,
  session = SESSION,
  { cancelAt, ...change }: Partial<CheckpointOptions> & { cancelAt?: Step } = {},
) {
  const options = { ...BY_HAND, ...change };
  return underLease(fake, () => createCheckpoint(session, options, fake.engine), cancelAt);
}

/** Nothing is recorded or left behind, nothing goes on in the background, and the session runs on. */
function expectNothingLeft({ engine, steps, logged }: FakeEngine, session = SESSION) {
  expect(steps.left()).toEqual([]);
  expect(engine.catalog.checkpoints()).toEqual(checkpointsOf(session));
  expect(engine.catalog.session("s1")).toEqual(session);
  expect(engine.live.get("s1")?.instanceId).toBe("s1-1");
  expect(steps.all).not.toContainEqual(
    expect.stringMatching(/^(stories|store.makeDurable|link.end)/),
  );
  expect(logged).toEqual([]);
}

test("a checkpoint is dumped while nobody is connected, recorded, and made durable behind the answer", async () => {
  const fake = engineWithSession(SESSION);

  const row = await take(fake);
  await fake.engine.background.idle();

  expect(fake.steps.all).toEqual([
    "store.shares.requireShare take a checkpoint",
    "store.space.flushIfDirty new",
    "link.quiesce",
    expect.stringMatching(/^memoryImages.makeRoom/),
    expect.stringMatching(/^store.prepareCheckpoint id1/),
    "limits.liftCpu s1-1",
    "criu.dump s1-1",
    "limits.liftCpu is over",
    "store.images.settle",
    "link.resume",
    "store.writeManifest id1",
    "catalog.transaction",
    "catalog.insertCheckpoint",
    "catalog.updateSession s1",
    "stories.schedule id1",
    "store.images.sum",
    "catalog.updateCheckpoint id1",
    "store.writeManifest id1",
    "store.makeDurable id1",
    "catalog.updateCheckpoint id1",
    "memoryImages.trim",
  ]);
  expect(row).toMatchObject({ id: "id1", content: "full", parent: "c2", stage: "captured" });
  expect(fake.engine.catalog.session("s1")?.head).toBe("id1");
  expect(fake.engine.catalog.checkpoint("id1")).toMatchObject({ stage: "durable" });
});

test.each<Step>([
  "store.shares.requireShare",
  "store.space.flushIfDirty",
  "sandbox.isBindRemoved",
  "link.quiesce",
  "sandbox.treeMemoryBytes",
  "memoryImages.makeRoom",
  "store.prepareCheckpoint",
  "limits.liftCpu",
  "criu.dump",
  "store.images.settle",
  "store.writeManifest",
  "catalog.transaction",
  "catalog.insertCheckpoint",
  "catalog.updateSession",
])("a checkpoint whose %s fails leaves nothing, and the session runs on", async (step) => {
  const fake = engineWithSession(WITH_BIND);
  fake.steps.fail(step);

  const failing = take(fake, WITH_BIND);

  await expect(failing).rejects.toThrow(`${step} failed`);
  await fake.engine.background.idle();
  expectNothingLeft(fake, WITH_BIND);
});
