import { expect, test } from "vitest";
import { Pace } from "../moment/index.ts";
import { findMergeBase } from "./merge-base.ts";

/** Commits by their parents; each is a second younger than the one before it. */
function repository(parents: Record<string, string[]>, secondsOf: Record<string, number> = {}) {
  const commits = Object.entries(parents).map(([id, own], at) => {
    const facts = { tree: "", author: "", subject: "" };
    return { id, parents: own, seconds: secondsOf[id] ?? at, ...facts };
  });
  return { commit: async (id: string) => commits.find((each) => each.id === id) ?? null };
}

const find = (pair: [string, string], ...repositories: ReturnType<typeof repository>[]) =>
  findMergeBase(pair, repositories, new Pace(new AbortController().signal));

test("two branches have the commit in common from which both go on", async () => {
  const own = repository({ a: [], b: ["a"], c: ["b"], d: ["b"], e: ["d", "c"] });

  expect(await find(["c", "d"], own)).toBe("b");
  expect(await find(["c", "e"], own)).toBe("c");
  expect(await find(["e", "a"], own)).toBe("a");
  expect(await find(["b", "b"], own)).toBe("b");
});

test("each of two repositories may lack what the other one has made", async () => {
  const one = repository({ a: [], b: ["a"] });
  const other = repository({ a: [], c: ["a"] });

  expect(await find(["b", "c"], one, other)).toBe("a");
  expect(await find(["b", "c"], one)).toBeNull();
});

test("a commit whose clock was ahead is found behind its children", async () => {
  const own = repository({ a: [], b: ["a"], c: ["b"], d: ["c"] }, { b: 100 });

  expect(await find(["b", "d"], own)).toBe("b");
});

test("histories with nothing in common have nothing, also in a circle that nobody could make", async () => {
  const own = repository({ a: [], b: ["a"], x: ["y"], y: ["x"] });

  expect(await find(["b", "x"], own)).toBeNull();
});
