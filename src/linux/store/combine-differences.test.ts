import { describe, expect, test } from "vitest";
import { COMMAND } from "../../formats/btrfs-stream/index.ts";
import { combineDifferences } from "./combine-differences.ts";
import { ChangesReplay } from "./replay-changes.ts";
import type { Difference } from "./send-difference.ts";

const NO_FIELDS = {
  path: "",
  pathTo: "",
  pathLink: "",
  inode: 0,
  xattrName: "",
  offset: 0,
  size: 0,
};

/** A side that has renamed some things, then changed others in place. */
function side(renames: Record<string, string>, changed: Record<string, number> = {}): Difference {
  const replay = new ChangesReplay();
  for (const [path, pathTo] of Object.entries(renames)) {
    replay.apply({ ...NO_FIELDS, kind: COMMAND.rename, path, pathTo });
  }
  for (const path of Object.keys(changed)) {
    replay.apply({ ...NO_FIELDS, kind: COMMAND.chmod, path });
  }
  const nodes = replay.finish();
  const origins = nodes.flatMap(({ origin }) => origin ?? []);
  const moved = nodes.flatMap(({ origin, paths }) =>
    paths.filter((path) => path !== origin).map((path) => [path, origin ?? ""] as const),
  );
  return {
    before: new Set(origins),
    after: new Set(nodes.flatMap(({ paths }) => paths)),
    moved: new Map(moved),
    created: new Set(),
    written: new Map(Object.values(changed).map((inode) => [inode, [{ offset: inode, size: 1 }]])),
    attributes: new Set(Object.values(changed)),
    pathsAfter: (path) => replay.pathsAfter(path),
  };
}

describe("two branches that changed what their common ancestor had", () => {
  test("have both to be looked at where only one was changed", () => {
    const combined = combineDifferences(side({}, { one: 1 }), side({}, { other: 2 }));

    expect(combined.before).toEqual(new Set(["one", "other"]));
    expect(combined.after).toEqual(new Set(["one", "other"]));
    expect([...combined.written.keys()]).toEqual([1, 2]);
    expect(combined.attributes).toEqual(new Set([1, 2]));
  });

  test("may each have written to the same file elsewhere", () => {
    const ours = side({}, { file: 1 });
    const theirs = { ...side({}), written: new Map([[1, [{ offset: 9, size: 2 }]]]) };

    expect(combineDifferences(ours, theirs).written.get(1)).toEqual([
      { offset: 1, size: 1 },
      { offset: 9, size: 2 },
    ]);
  });

  test("have moved to each other's place what either has moved", () => {
    const moved = (ours: Difference, theirs: Difference) =>
      Object.fromEntries(combineDifferences(ours, theirs).moved);

    expect(moved(side({ a: "b" }), side({}))).toEqual({ a: "b" });
    expect(moved(side({}), side({ a: "b" }))).toEqual({ b: "a" });
    expect(moved(side({ a: "b" }), side({ a: "c" }))).toEqual({ c: "b" });
    expect(moved(side({ a: "b" }), side({ a: "b" }))).toEqual({});
  });

  test("find a change in a directory that the other has moved", () => {
    const combined = combineDifferences(side({ d: "e" }), side({ "d/x": "y" }, { "d/sub/z": 1 }));

    expect(combined.before).toEqual(new Set(["e", "e/x", "e/sub/z"]));
    expect(combined.after).toEqual(new Set(["d", "d/sub/z", "y"]));
    expect(Object.fromEntries(combined.moved)).toEqual({ d: "e", y: "e/x" });
  });
});
