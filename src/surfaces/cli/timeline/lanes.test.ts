import { expect, test } from "vitest";
import { assignLanes, LANES_MAX } from "./lanes.ts";
import { shortenIds } from "./shorten-ids.ts";

test("a lane that has ended is used again", () => {
  const rows = assignLanes([
    { id: "a", parent: null, session: "s" },
    { id: "b", parent: null, session: "t" },
    { id: "c", parent: "a", session: "s" },
  ]);

  expect(rows.map(({ lane }) => lane)).toEqual([0, 1, 0]);
});

test("a tree that is too wide says in words where a branch comes from", () => {
  const children = Array.from({ length: LANES_MAX + 3 }, (_, index) => ({
    id: `c${index}`,
    parent: "root",
    session: `s${index}`,
  }));

  const rows = assignLanes([{ id: "root", parent: null, session: "s" }, ...children]);

  expect(Math.max(...rows.map(({ lane }) => lane))).toBeLessThanOrEqual(LANES_MAX);
  expect(rows.filter(({ isDetached }) => isDetached).length).toBeGreaterThan(0);
});

test("ids are cut to what tells them apart", () => {
  const short = shortenIds(["abcdefgh12", "abcdefgh34", "zz00000000"]);

  expect([...short.values()].toSorted()).toEqual(["abcdefgh1", "abcdefgh3", "zz0000"]);
});
