import { expect, test } from "vitest";
import { chooseForgotten, type ImagesInMemory } from "./choose-forgotten.ts";

const RULES = { keptBytesMax: 100, idleMs: 1000, isMemoryShort: false };

function images(checkpointId: string, facts: Partial<ImagesInMemory> = {}): ImagesInMemory {
  return { checkpointId, sizeBytes: 30, unusedMs: 0, isHead: false, ...facts };
}

test("what was used last is kept, up to the bound", () => {
  const held = [4, 2, 3, 1, 5].map((age) => images(`c${age}`, { unusedMs: age * 10 }));

  expect(chooseForgotten(held, RULES)).toEqual(["c5", "c4"]);
});

test("heads are kept before what was used later", () => {
  const held = [images("head", { isHead: true, unusedMs: 900, sizeBytes: 80 }), images("new")];

  expect(chooseForgotten(held, RULES)).toEqual(["new"]);
});

test("what nobody has used for a while is forgotten, but heads", () => {
  const held = [
    images("head", { isHead: true, unusedMs: 5000 }),
    images("old", { unusedMs: 1000 }),
  ];

  expect(chooseForgotten(held, RULES)).toEqual(["old"]);
});

test("images larger than the bound do not push out what fits", () => {
  const held = [images("huge", { sizeBytes: 101 }), images("small", { unusedMs: 10 })];

  expect(chooseForgotten(held, RULES)).toEqual(["huge"]);
});

test("where memory is short nothing is kept", () => {
  const held = [images("head", { isHead: true }), images("other", { unusedMs: 1 })];

  expect(chooseForgotten(held, { ...RULES, isMemoryShort: true })).toEqual(["other", "head"]);
});
