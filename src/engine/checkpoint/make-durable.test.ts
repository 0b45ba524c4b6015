import { expect, test } from "vitest";
import { fakeEngine, type Step } from "../../../test/support/fake-engine.ts";
import { checkpointRow, sessionRow } from "../../../test/support/fake-rows.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { makeDurable, removeCheckpoints, scheduleDurable } from "./make-durable.ts";
import { fromManifest } from "./manifest.ts";
import { writeManifest } from "./write-manifest.ts";

const CAPTURED = checkpointRow({ id: "c2", parent: "c1", stage: "captured", imagesSums: null });

/** An engine with a checkpoint that was just captured, `c2`, after the durable `c1`. */
function engineWithCaptured(change: Partial<typeof CAPTURED> = {}) {
  const fake = fakeEngine();
  fake.engine.catalog.insertSession(sessionRow());
  fake.engine.catalog.insertCheckpoint(checkpointRow());
  fake.engine.catalog.insertCheckpoint({ ...CAPTURED, ...change });
  fake.steps.forget();
  return fake;
}

test("a checkpoint's sums are noted and written before its images move, and it is durable then", async () => {
  const fake = engineWithCaptured();

  await makeDurable("c2", fake.engine);

  expect(fake.steps.all).toEqual([
    "store.images.sum",
    "catalog.updateCheckpoint c2",
    "store.writeManifest c2",
    "store.makeDurable c2",
    "catalog.updateCheckpoint c2",
    "memoryImages.trim",
  ]);
  const durable = { stage: "durable", imagesSums: "sums" };
  expect(fake.engine.catalog.checkpoint("c2")).toMatchObject(durable);
});

test("words that are said while a checkpoint becomes durable are in its last manifest", async () => {
  const { engine, steps } = engineWithCaptured({ name: "old" });
  const written: string[] = [];
  let calls = 0;
  const isFirst = Promise.withResolvers<void>();
  const goesOn = Promise.withResolvers<void>();
  steps.answer("store.writeManifest", async (_id: string, manifest: unknown) => {
    isFirst.resolve();
    calls += 1;
    if (calls === 1) await goesOn.promise;
    written.push(fromManifest(JSON.parse(JSON.stringify(manifest))).name ?? "");
  });

  const durable = makeDurable("c2", engine);
  await isFirst.promise;
  engine.catalog.updateCheckpoint("c2", { name: "new" });
  const said = writeManifest("c2", engine);
  // Whoever does not wait for the one before has written by now.
  await new Promise((resolve) => setImmediate(resolve));
  goesOn.resolve();
  await Promise.all([durable, said]);

  expect(written).toEqual(["old", "new"]);
});

test("a checkpoint for which no program can be started becomes durable once that has changed", async () => {
  const fake = engineWithCaptured();
  const full = new WaypointError("PROCESSES_FULL", "No further process can be started.");
  fake.steps.fail("store.makeDurable", full, 1);

  scheduleDurable("c2", fake.engine);

  const stage = () => fake.engine.catalog.checkpoint("c2")?.stage;
  await expect.poll(stage, { timeout: 20_000 }).toBe("durable");
  expect(fake.logged).toEqual(["a checkpoint is made durable later"]);
});

test.each<Step>([
  "store.images.sum",
  "catalog.updateCheckpoint",
  "store.writeManifest",
  "store.makeDurable",
])("a checkpoint whose %s fails stays captured, and that is logged", async (step) => {
  const fake = engineWithCaptured();
  fake.steps.fail(step);

  scheduleDurable("c2", fake.engine);

  await expect.poll(() => fake.logged).toEqual(["make durable"]);
  expect(fake.engine.catalog.checkpoint("c2")?.stage).toBe("captured");
});

test("images that are gone from memory and never came to the store make nothing durable", async () => {
  const fake = engineWithCaptured();
  fake.steps.answer("store.images.isInStore", () => false);

  await makeDurable("c2", fake.engine);

  expect(fake.engine.catalog.checkpoint("c2")?.stage).toBe("captured");
});

test("what is held, durable or removed meanwhile is left alone", async () => {
  const fake = engineWithCaptured({ heldBy: "s1-1" });

  await Promise.all(["c1", "c2", "gone"].map((id) => makeDurable(id, fake.engine)));

  expect(fake.steps.all).toEqual([]);
});

test("a checkpoint is removed when nothing sums, moves, reads or verifies it any more", async () => {
  const fake = engineWithCaptured();
  const summed = Promise.withResolvers<string>();
  fake.steps.answer("store.images.sum", () => summed.promise);
  const durable = makeDurable("c2", fake.engine);
  await expect.poll(() => fake.steps.all).toContain("store.images.sum");

  const removed = removeCheckpoints(["c2"], fake.engine);
  await expect.poll(() => fake.steps.all).toContain("verifications.cancel c2");
  fake.steps.note("the sums are there");
  summed.resolve("sums");
  await Promise.all([durable, removed]);

  expect(fake.steps.all).toEqual([
    "store.images.sum",
    "store.removeManifest c2",
    "catalog.deleteCheckpoint c2",
    "stories.cancel c2",
    "verifications.cancel c2",
    "the sums are there",
    "catalog.updateCheckpoint c2",
    "stories.whileNotRead",
    "store.deleteCheckpoint c2",
    "store.shares.sweepSoon",
  ]);
  expect(fake.engine.catalog.checkpoint("c2")).toBeUndefined();
});

test("where there is nothing to remove, nothing is waited for", async () => {
  const fake = engineWithCaptured();
  const summed = Promise.withResolvers<string>();
  fake.steps.answer("store.images.sum", () => summed.promise);
  const durable = makeDurable("c2", fake.engine);
  await expect.poll(() => fake.steps.all).toContain("store.images.sum");

  await removeCheckpoints([], fake.engine);

  summed.resolve("sums");
  await durable;
});

test("what holds a checkpoint ends with it", async () => {
  const fake = engineWithCaptured({ heldBy: "s1-0" });
  fake.engine.catalog.insertInstance({ id: "s1-0", session: "s1", pid: 60, startTicks: 7 });

  await removeCheckpoints(["c2"], fake.engine);

  expect(fake.steps.all).toContain("sandbox.killTree 60 7");
  expect(fake.engine.catalog.instance("s1-0")).toBeUndefined();
});

test("a checkpoint whose manifest cannot be removed is not removed", async () => {
  const fake = engineWithCaptured();
  fake.steps.fail("store.removeManifest");

  await expect(removeCheckpoints(["c2"], fake.engine)).rejects.toThrow("removeManifest failed");

  expect(fake.engine.catalog.checkpoint("c2")).toBeDefined();
  expect(fake.steps.all).toEqual(["store.removeManifest c2 fails"]);
});

test.each<Step>(["stories.cancel", "verifications.cancel", "store.deleteCheckpoint"])(
  "a checkpoint whose removal fails at %s has no manifest, so that no daemon brings it back",
  async (step) => {
    const fake = engineWithCaptured();
    fake.steps.fail(step);

    await expect(removeCheckpoints(["c2"], fake.engine)).rejects.toThrow(`${step} failed`);

    expect(fake.engine.catalog.checkpoints().map(({ id }) => id)).toEqual(["c1"]);
    expect(fake.steps.all[0]).toBe("store.removeManifest c2");
  },
);
