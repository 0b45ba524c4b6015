import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type FakeEngine, fakeEngine } from "../../../test/support/fake-engine.ts";
import { bytesOfPause, MemoryReserve } from "./memory-reserve.ts";

const MEBIBYTE = 1024 ** 2;
const GIBIBYTE = 1024 * MEBIBYTE;

let fake: FakeEngine;
let reserve: MemoryReserve;
let said: string[];
let heldBytes: number;
let roomBytes: number;
let treeBytes: number;

const memory = {
  keep: (bytes: number) => void said.push(`keep ${Math.round(bytes / MEBIBYTE)}`),
  leave: (bytes: number) => void said.push(`leave ${Math.round(bytes / MEBIBYTE)}`),
  heldBytes: async () => heldBytes,
  roomBytes: () => roomBytes,
  close: async () => void said.push("closed"),
};

/** A session that runs, and whose last images were of a hundred MiB. */
beforeEach(() => {
  vi.useFakeTimers();
  [said, heldBytes, roomBytes, treeBytes] = [[], 0, GIBIBYTE, 120 * MEBIBYTE];
  fake = fakeEngine();
  fake.engine.live.set(fake.live("s1", "s1-1"));
  fake.steps.answer("sandbox.treeMemoryBytes", () => treeBytes);
  fake.steps.answer("criu.takenPagesBytes", () => 0);
  fake.steps.answer("store.images.usage", () => ({ usedBytes: 0, budgetBytes: 6 * GIBIBYTE }));
  reserve = new MemoryReserve(fake.engine, memory);
});

afterEach(async () => {
  await reserve.close();
  vi.useRealTimers();
});

/** A dump, and the time until what comes after it has been done. */
async function dump(sessionId: string, mebibytes: number) {
  reserve.makeWay(mebibytes * MEBIBYTE);
  reserve.note(sessionId, mebibytes * MEBIBYTE);
  reserve.fill();
  await vi.advanceTimersByTimeAsync(1_000);
}

test("what a dump will write is let go of before it, and held again after it", async () => {
  await dump("s1", 100);
  await dump("s1", 100);

  expect(said).toEqual(["leave 0", "keep 132", "leave 0", "keep 132"]);
  expect(await reserve.status()).toEqual({ heldBytes: 0, wantedBytes: 132 * MEBIBYTE });
});

test("a session whose writes are followed needs what its pauses write", () => {
  const trackMemory = {
    ...{ trackerProgramPath: "", assembleProgramPath: "", compares: false },
    ...{ bytesMin: 0, aheadBytesMin: 128 * MEBIBYTE },
  };
  const needed = (memoryBytes: number, pauseBytes: number | null, settings = { trackMemory }) =>
    bytesOfPause({ memoryBytes, pauseBytes }, settings);

  expect(needed(2 * GIBIBYTE, 10 * MEBIBYTE)).toBe(128 * MEBIBYTE);
  expect(needed(2 * GIBIBYTE, 300 * MEBIBYTE)).toBe(300 * MEBIBYTE);
  // Without a checkpoint to compare with, it is copied in one pause.
  expect(needed(100 * MEBIBYTE, 10 * MEBIBYTE)).toBe(100 * MEBIBYTE);
  expect(needed(2 * GIBIBYTE, null)).toBe(2 * GIBIBYTE);
  const neverAhead = { ...trackMemory, aheadBytesMin: Number.POSITIVE_INFINITY };
  expect(needed(2 * GIBIBYTE, 10 * MEBIBYTE, { trackMemory: neverAhead })).toBe(2 * GIBIBYTE);
});

test("a small dump takes nothing of what is held for a large one, and one of a middle size its part", async () => {
  fake.engine.live.set(fake.live("s2", "s2-1"));
  await dump("s1", 100);
  said = [];

  await dump("s2", 1);
  reserve.makeWay(20 * MEBIBYTE);

  expect(said).toEqual(["keep 132", "leave 80"]);
});

test("small sessions have nothing held for them", async () => {
  await dump("s1", 2);

  expect(said).toEqual(["keep 0"]);
});

test("no more is held than there is room, and nothing where memory is short", async () => {
  roomBytes = 50 * MEBIBYTE;
  await dump("s1", 100);
  fake.steps.answer("store.images.usage", () => ({ usedBytes: GIBIBYTE, budgetBytes: GIBIBYTE }));
  await dump("s1", 100);

  expect(said).toEqual(["leave 0", "keep 50", "leave 0", "keep 0"]);
});

test("what there is no room for any more is given back between dumps, without one", async () => {
  await dump("s1", 100);
  said = [];
  roomBytes = 10 * MEBIBYTE;

  await vi.advanceTimersByTimeAsync(5_000);

  expect(said).toEqual(["keep 10"]);
});

test("what the kernel has taken for others is not taken back from them before the next dump", async () => {
  await dump("s1", 100);
  said = [];

  heldBytes = 4 * MEBIBYTE;
  await vi.advanceTimersByTimeAsync(60_000);

  expect(said).toEqual([]);
});

test("a session that grows has more held for it", async () => {
  await dump("s1", 100);
  said = [];

  treeBytes += 200 * MEBIBYTE;
  await vi.advanceTimersByTimeAsync(5_000);

  expect(said).toEqual(["keep 332"]);
});

test.each([
  ["that ended", () => fake.engine.live.delete("s1", "s1-1"), 5_000],
  ["that rests", () => {}, 310_000],
])("all is given back for a session %s", async (_which, change, ms) => {
  await dump("s1", 100);
  said = [];

  change();
  await vi.advanceTimersByTimeAsync(ms);

  expect(said).toEqual(["keep 0"]);
});

test("nothing is filled while a dump writes", async () => {
  await dump("s1", 100);
  said = [];

  reserve.makeWay(100 * MEBIBYTE);
  reserve.makeWay(100 * MEBIBYTE);
  reserve.fill();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(said).toEqual(["leave 0", "leave 0"]);

  reserve.fill();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(said.at(-1)).toBe("keep 132");
});

const gaveBack = () => fake.steps.all.filter((step) => step.startsWith("criu.trimTakenPages"));

test("what a pause copies small pieces into is kept, and counts as held", async () => {
  fake.steps.answer("criu.takenPagesBytes", () => 3 * MEBIBYTE);
  await dump("s1", 100);
  heldBytes = 100 * MEBIBYTE;
  await vi.advanceTimersByTimeAsync(60_000);

  expect(gaveBack()).toEqual([]);
  expect((await reserve.status()).heldBytes).toBe(103 * MEBIBYTE);
});

test("it is given back where memory is short, or the session rests, and never in a dump", async () => {
  roomBytes = 0;
  await dump("s1", 100);
  await vi.advanceTimersByTimeAsync(4_500);
  expect(gaveBack()).toEqual(["criu.trimTakenPages s1-1 0"]);

  roomBytes = GIBIBYTE;
  await dump("s1", 100);
  const before = gaveBack().length;
  reserve.makeWay(0);
  await vi.advanceTimersByTimeAsync(310_000);
  expect(gaveBack().length).toBe(before);

  reserve.fill();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(gaveBack().length).toBeGreaterThan(before);
});
