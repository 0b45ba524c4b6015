import { expect, test } from "vitest";
import { linkOverElided } from "./link-over-elided.ts";

const row = (id: string, parent: string | null) => ({ id, parent });
const TREE = [row("a", null), row("b", "a"), row("c", "b"), row("d", "c"), row("e", "b")];

function shown(...ids: string[]) {
  return linkOverElided(
    TREE.filter(({ id }) => ids.includes(id)),
    TREE,
  );
}

test("a checkpoint is linked over those that are left out", () => {
  expect(shown("a", "d", "e")).toEqual([
    { checkpoint: "d", ancestor: "a", count: 2 },
    { checkpoint: "e", ancestor: "a", count: 1 },
  ]);
});

test("with nothing shown before it, it has no ancestor, but the count", () => {
  expect(shown("d")).toEqual([{ checkpoint: "d", ancestor: null, count: 3 }]);
});

test("where nothing is left out there are no links", () => {
  expect(shown("a", "b", "c", "d", "e")).toEqual([]);
  expect(shown()).toEqual([]);
});

test("a parent that was removed is no gap", () => {
  expect(linkOverElided([row("x", "gone")], [row("x", "gone")])).toEqual([]);
});
