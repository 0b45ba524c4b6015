import { expect, test } from "vitest";
import type { WaypointSaver } from "../../src/surfaces/langgraph/index.ts";
import { at, putValues } from "./saver-checkpoints.ts";

/** What a saver of ours does with whole threads, as tests. */
export function describeThreads(saverOf: () => WaypointSaver): void {
  const put = (parent: object, values: object, versions: object, fresh: string[]) =>
    putValues(saverOf(), parent, { values, versions, fresh });
  const valuesAt = async (config: object) =>
    (await saverOf().getTuple(config))?.checkpoint.channel_values;

  test("a pruned thread keeps the newest, what has a name, and what those are made of", async () => {
    const saver = saverOf();
    const [shared, gone] = ["s".repeat(20_000), "g".repeat(20_000)];
    const first = await put(at("t"), { a: shared, b: gone }, { a: 1, b: 1 }, ["a", "b"]);
    const second = await put(first, { a: shared, b: "2" }, { a: 1, b: 2 }, ["b"]);
    const third = await put(second, { a: shared, b: "3" }, { a: 1, b: 3 }, ["b"]);
    const newest = await put(third, { a: shared, b: "4" }, { a: 1, b: 4 }, ["b"]);
    await saver.putWrites(first, [["b", "old"]], "task");
    await saver.nameCheckpoint(second, "green");

    const pruned = await saver.prune({ threads: ["t"], keepLast: 1 });

    expect(pruned).toMatchObject({ checkpoints: 2, busyThreads: [] });
    expect(pruned.objects).toBeGreaterThan(0);
    expect(await saver.getTuple(first)).toBeUndefined();
    expect(await saver.getTuple(third)).toBeUndefined();
    expect(await valuesAt(newest)).toEqual({ a: shared, b: "4" });
    expect(await valuesAt(second)).toEqual({ a: shared, b: "2" });
    expect((await saver.namedCheckpoints("t")).get("green")).toEqual(second);
    const after = await put(newest, { a: shared, b: gone }, { a: 1, b: 5 }, ["b"]);
    expect(await valuesAt(after)).toEqual({ a: shared, b: gone });
    expect(await saver.prune({ keepLast: 3 })).toMatchObject({ checkpoints: 0, objects: 0 });
  });

  test("a copy has all of a thread or the way to one checkpoint, and lives by itself", async () => {
    const saver = saverOf();
    const long = "l".repeat(20_000);
    const root = await put(at("t"), { a: long }, { a: 1 }, ["a"]);
    const left = await put(root, { a: "left" }, { a: 2 }, ["a"]);
    const right = await put(root, { a: "right" }, { a: 2 }, ["a"]);
    await saver.putWrites(right, [["a", "pending"]], "task");
    await saver.nameCheckpoint(root, "start");

    expect(await saver.copyThread("t", "whole")).toBe(3);
    const leftId = left.configurable?.["checkpoint_id"] as string;
    expect(await saver.copyThread("t", "way", { upTo: leftId })).toBe(2);
    await saver.deleteThread("t");

    expect(await valuesAt(at("way"))).toEqual({ a: "left" });
    expect(await valuesAt(at("way", root.configurable?.["checkpoint_id"] as string))).toEqual({
      a: long,
    });
    expect((await saver.getTuple(at("whole")))?.pendingWrites).toEqual([["task", "a", "pending"]]);
    expect((await saver.namedCheckpoints("whole")).has("start")).toBe(true);
    await expect(saver.copyThread("whole", "way")).rejects.toThrow(
      expect.objectContaining({ code: "THREAD_EXISTS" }),
    );
    await expect(saver.copyThread("t", "new")).rejects.toThrow(
      expect.objectContaining({ code: "CHECKPOINT_NOT_FOUND" }),
    );
    await expect(saver.nameCheckpoint(at("t", "no"), "x")).rejects.toThrow(
      expect.objectContaining({ code: "CHECKPOINT_NOT_FOUND" }),
    );
  });
}
