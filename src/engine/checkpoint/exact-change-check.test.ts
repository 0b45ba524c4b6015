import { expect, test } from "vitest";
import type { FakeEngine, Step } from "../../../test/support/fake-engine.ts";
import { engineWithSession, SESSION, underLease } from "../../../test/support/fake-session.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { createCheckpoint } from "./create-checkpoint.ts";

const BY_HAND = {
  ...({ trigger: "manual", intent: null, name: null } as const),
  ...{ filesOnly: false, movesHead: true },
};

function take(fake: FakeEngine) {
  const session = () => fake.engine.catalog.session("s1") ?? SESSION;
  return underLease(fake, () => createCheckpoint(session(), BY_HAND, fake.engine));
}

/** An engine in which nothing has run or changed since a first checkpoint, `id1`. */
async function engineAtRest() {
  const fake = engineWithSession(SESSION);
  fake.steps.answer("sandbox.treeActivity", () => ({}));
  fake.steps.answer("sandbox.isSameActivity", () => true);
  fake.steps.answer("sandbox.isSameWait", () => true);
  await take(fake);
  await fake.engine.background.idle();
  fake.steps.forget();
  return fake;
}

function isDumped({ steps }: FakeEngine) {
  return steps.all.includes("criu.dump s1-1");
}

test("a checkpoint of what nothing has changed shares its parent's captures, without a pause", async () => {
  const fake = await engineAtRest();

  const row = await take(fake);

  expect(row).toMatchObject({ unchangedSince: "id1", pauseMs: 0, imagesSums: "sums" });
  expect(fake.steps.all).toContain("store.shareCaptures id2 id1");
  expect(fake.steps.all).not.toContain("link.quiesce");
  expect(await take(fake)).toMatchObject({ unchangedSince: "id2" });
});

test.each<[string, (fake: FakeEngine) => void]>([
  ["runs", ({ steps }) => steps.answer("sandbox.isSameActivity", () => false)],
  ["is gone", ({ steps }) => steps.answer("sandbox.treeActivity", () => null)],
  ["writes", ({ steps }) => steps.answer("store.filesOfInstance", async () => 2n)],
])("what %s is dumped", async (_, change) => {
  const fake = await engineAtRest();
  change(fake);

  expect(await take(fake)).toMatchObject({ unchangedSince: null });

  expect(isDumped(fake)).toBe(true);
});

test("captures of a parent that goes away meanwhile are not shared, and nothing is left of the try", async () => {
  const fake = await engineAtRest();
  fake.steps.fail("store.shareCaptures");

  expect(await take(fake)).toMatchObject({ unchangedSince: null });

  const order = [
    "store.shareCaptures id2 id1 fails",
    "store.deleteCheckpoint id2",
    "criu.dump s1-1",
  ];
  expect(fake.steps.all.filter((step) => order.includes(step))).toEqual(order);
});

test("captures for which the store has no room are not dumped either, and nothing is left", async () => {
  const fake = await engineAtRest();
  fake.steps.fail("store.shareCaptures", new WaypointError("STORE_FULL", "There is no room."));

  await expect(take(fake)).rejects.toMatchObject({ code: "STORE_FULL" });

  expect(isDumped(fake)).toBe(false);
  expect(fake.steps.left()).toEqual([]);
  expect(fake.engine.catalog.session("s1")?.head).toBe("id1");
});

test.each<Step>(["store.writeManifest", "catalog.insertCheckpoint"])(
  "a shared checkpoint whose %s fails leaves nothing",
  async (step) => {
    const fake = await engineAtRest();
    fake.steps.fail(step);

    await expect(take(fake)).rejects.toThrow(`${step} failed`);

    expect(fake.steps.left()).toEqual([]);
    expect(fake.engine.catalog.session("s1")?.head).toBe("id1");
  },
);

test.each<[string, Step, () => unknown]>([
  ["a process is about to wake by an alarm", "criu.hasAlarm", async () => true],
  ["something had a cause to run during the dump", "sandbox.isSameWait", () => false],
])("where %s the next checkpoint is dumped, too", async (_, step, answer) => {
  const fake = await engineAtRest();
  fake.steps.answer("sandbox.isSameActivity", () => false);
  fake.steps.during("criu.dump", () => fake.steps.answer("sandbox.isSameActivity", () => true));
  fake.steps.answer(step, answer);
  expect(await take(fake)).toMatchObject({ id: "id2", unchangedSince: null });

  expect(await take(fake)).toMatchObject({ id: "id3", unchangedSince: null });
});
