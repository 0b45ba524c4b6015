import { expect, test } from "vitest";
import { fakeEngine, type Step } from "../../../test/support/fake-engine.ts";
import { sessionRow } from "../../../test/support/fake-rows.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { dumpInstance } from "./dump-instance.ts";

const FULL = new WaypointError("STORE_FULL", "There is no room.");
const TREE = { instanceId: "s1-1", pid: 70 };

function dump({ engine }: ReturnType<typeof fakeEngine>) {
  return dumpInstance(sessionRow(), TREE, "id1", engine);
}

test("a dump for which memory has no room in the middle begins again in the store", async () => {
  const fake = fakeEngine();
  fake.steps.fail("criu.dump", FULL, 1);

  const dumped = await dump(fake);

  expect(dumped).toEqual({ pauseMs: 5, memoryBytes: 4096, pauseBytes: null });
  expect(fake.steps.all.slice(4)).toEqual([
    "criu.dump s1-1 fails",
    "store.deleteSnapshot id1",
    "store.images.prepareInStore",
    "criu.dump s1-1",
    "limits.liftCpu is over",
    "warmMemory.fill",
    "store.images.settle",
  ]);
});

test("a dump for which the store has no room is not tried again", async () => {
  const fake = fakeEngine();
  fake.steps.answer("store.prepareCheckpoint", async () => "/checkpoints/id1/images");
  fake.steps.fail("criu.dump", FULL);

  await expect(dump(fake)).rejects.toBe(FULL);

  expect(fake.steps.all).not.toContain("store.deleteSnapshot id1");
});

test("a dump that CRIU refuses is not tried again", async () => {
  const fake = fakeEngine();
  fake.steps.fail("criu.dump");

  await expect(dump(fake)).rejects.toThrow("criu.dump failed");

  expect(fake.steps.all).not.toContain("store.images.prepareInStore");
});

test.each<Step>(["store.deleteSnapshot", "store.images.prepareInStore", "criu.dump"])(
  "a second try whose %s fails lifts no limit any longer, and settles what memory is counted",
  async (step) => {
    const fake = fakeEngine();
    fake.steps.fail("criu.dump", FULL, step === "criu.dump" ? 2 : 1);
    if (step !== "criu.dump") fake.steps.fail(step);

    await expect(dump(fake)).rejects.toThrow();

    expect(fake.steps.left()).toEqual(["checkpoint id1"]);
    expect(fake.steps.all.at(-1)).toBe("store.images.settle");
  },
);

test("memory is let go of for what is written into memory, and held again whatever becomes of the dump", async () => {
  const [full, refused] = [fakeEngine(), fakeEngine()];
  full.steps.answer("store.prepareCheckpoint", async () => "/checkpoints/id1/images");
  refused.steps.fail("criu.dump");

  await dump(full);
  await expect(dump(refused)).rejects.toThrow("criu.dump failed");

  expect(full.steps.all).toContain("warmMemory.makeWay 0");
  expect(refused.steps.all).toContain("warmMemory.makeWay 4096");
  expect(refused.steps.all).toContain("warmMemory.fill");
});
