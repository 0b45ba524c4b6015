import { afterEach, beforeEach, expect, test } from "vitest";
import { type FakeEngine, fakeEngine } from "../../../test/support/fake-engine.ts";
import { checkpointRow, sessionRow } from "../../../test/support/fake-rows.ts";
import { MemoryImages } from "./memory-images.ts";

const GIBIBYTE = 1024 ** 3;

let fake: FakeEngine;
let images: MemoryImages;

/** Memory holds the images of three checkpoints; that of `c3` is nowhere else. */
beforeEach(() => {
  fake = fakeEngine();
  const { catalog } = fake.engine;
  catalog.insertSession(sessionRow({ head: "c3" }));
  for (const id of ["c1", "c2"]) catalog.insertCheckpoint(checkpointRow({ id }));
  catalog.insertCheckpoint(checkpointRow({ id: "c3", stage: "captured" }));
  const held = ["c1", "c2", "c3"].map((checkpointId) => ({
    ...{ checkpointId, sizeBytes: GIBIBYTE, unusedMs: 0 },
  }));
  fake.steps.answer("store.images.held", async (isComplete: (id: string) => boolean) =>
    held.filter(({ checkpointId }) => isComplete(checkpointId)),
  );
  fake.steps.answer("store.images.forget", async ({ checkpointDir }: { checkpointDir: string }) =>
    fake.steps.note(`forgets ${checkpointDir}`),
  );
  images = new MemoryImages(fake.engine);
});

afterEach(() => images.close());

const forgotten = () => fake.steps.all.filter((step) => step.startsWith("forgets")).toSorted();

test("where memory is short all is given back that the store has as well", async () => {
  fake.steps.answer("store.images.isMemorySpare", () => false);

  await images.trim();

  expect(forgotten()).toEqual(["forgets /checkpoints/c1", "forgets /checkpoints/c2"]);
});

test("room is made for a dump with as little as is enough", async () => {
  let hasRoom = false;
  fake.steps.answer("store.images.hasRoomFor", () => hasRoom);
  fake.steps.during("store.images.forget", () => {
    hasRoom = true;
  });

  await images.makeRoom(1024);

  expect(forgotten()).toHaveLength(1);
});

test("nothing is given up for what will never fit", async () => {
  fake.steps.answer("store.images.hasRoomFor", () => false);

  await images.makeRoom(2 * GIBIBYTE);

  expect(forgotten()).toEqual([]);
});
