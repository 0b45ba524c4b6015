import { expect, test } from "vitest";
import { fakeEngine, type Step } from "../../../test/support/fake-engine.ts";
import { checkpointRow, sessionRow } from "../../../test/support/fake-rows.ts";
import type { TrackedDump } from "../../linux/criu/index.ts";
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
    "limits.liftCpu is over",
    "store.deleteSnapshot id1",
    "store.images.prepareInStore",
    "limits.liftCpu s1-1",
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

const MEBIBYTE = 1024 ** 2;

/** A session of 256 MiB whose writes are followed since a checkpoint, and what CRIU is asked to dump. */
function engineThatFollows(reference: { isInStore: boolean }) {
  const fake = fakeEngine();
  const { engine, steps } = fake;
  const dumps: { imagesDir: string; tracked?: TrackedDump }[] = [];
  Object.assign(engine.settings, {
    trackMemory: { bytesMin: 0, aheadBytesMin: 0, compares: false },
  });
  engine.catalog.insertCheckpoint(checkpointRow({ id: "before", content: "full" }));
  steps.answer("sandbox.treeMemoryBytes", () => 256 * MEBIBYTE);
  steps.answer("criu.trackedSince", async () => "before");
  steps.answer("store.images.isInStore", () => reference.isInStore);
  steps.answer("store.images.locate", () => "/memory/before");
  steps.answer("criu.dump", async (options: (typeof dumps)[number]) => {
    dumps.push(options);
    return { pauseMs: 5, memoryBytes: 256 * MEBIBYTE, pauseBytes: 40_960 };
  });
  return { ...fake, dumps };
}

test.each([
  { isInStore: true, roomMebibytes: 300, asked: ["makeRoom 80", "makeInStore"] },
  { isInStore: false, roomMebibytes: 300, asked: ["makeRoom 272"] },
  { isInStore: false, roomMebibytes: 100, asked: ["makeRoom 272", "makeInStore"] },
])(
  "of what was not written nothing is dumped, reference in the store: $isInStore, room for $roomMebibytes MiB",
  async (given) => {
    const fake = engineThatFollows(given);
    const { steps, dumps } = fake;
    const asked: string[] = [];
    steps.answer(
      "store.images.hasRoomFor",
      (bytes: number) => bytes <= given.roomMebibytes * MEBIBYTE,
    );
    steps.answer("memoryImages.makeRoom", async (bytes: number) => {
      asked.push(`makeRoom ${bytes / MEBIBYTE}`);
    });
    steps.answer("store.images.makeInStore", async () => {
      asked.push("makeInStore");
      return "/store/id1";
    });

    await dump(fake);

    expect(dumps.map(({ imagesDir }) => imagesDir)).toEqual(["/memory/id1"]);
    await dumps[0]?.tracked?.reference?.makeTarget?.();
    expect(asked).toEqual(given.asked);
  },
);
