import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type Change,
  type ThreadRecords,
  VALUE_BYTES_MAX,
} from "../../src/portable/records/index.ts";

const text = (value: string) => new TextEncoder().encode(value);
const put = (key: string, value = key, mode?: Change["mode"]): Change => {
  return { key, value: text(value), ...(mode === undefined ? {} : { mode }) };
};
const LIMIT = 1000;

/**
 * What every store of records promises, as tests.
 *
 * @param open  returns an empty one, and a second one on the same store where it outlives the program
 */
export function describeRecords(
  name: string,
  open: () => Promise<{ records: ThreadRecords; again: (() => Promise<ThreadRecords>) | null }>,
): void {
  describe(`records of ${name}`, () => {
    let records: ThreadRecords;
    let again: (() => Promise<ThreadRecords>) | null;
    beforeEach(async () => {
      ({ records, again } = await open());
    });
    afterEach(async () => {
      await records[Symbol.asyncDispose]();
    });

    const read = async (thread: string, key: string, from = records) =>
      new TextDecoder().decode((await from.read(thread, [key])).get(key) ?? text("nothing"));
    const keysOf = async (thread: string, options: object = {}) =>
      (await records.scan(thread, { prefix: "", limit: LIMIT, ...options })).map(({ key }) => key);

    test("what was written is read as it was, empty values and all bytes too", async () => {
      const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
      await records.write("t", [
        { key: "a", value: bytes },
        { key: "b", value: new Uint8Array() },
        { key: "c", value: new Uint8Array(300_000).fill(7) },
      ]);

      const found = await records.read("t", ["a", "b", "c", "d"]);
      expect([...found.keys()].sort()).toEqual(["a", "b", "c"]);
      expect(Buffer.from(found.get("a") ?? []).equals(bytes)).toBe(true);
      expect(found.get("b")?.length).toBe(0);
      expect(found.get("c")?.length).toBe(300_000);
      expect((await records.read("other", ["a"])).size).toBe(0);
    });

    test("replace replaces, the first stays and is told, content stays and is not", async () => {
      await records.write("t", [put("a", "1"), put("b", "1"), put("c", "1")]);

      const { isDone, kept } = await records.write("t", [
        put("a", "2"),
        put("b", "2", "first"),
        put("c", "1", "content"),
        put("d", "2", "first"),
      ]);

      expect({ isDone, kept }).toEqual({ isDone: true, kept: ["b"] });
      expect(await read("t", "a")).toBe("2");
      expect(await read("t", "b")).toBe("1");
      expect(await read("t", "c")).toBe("1");
      expect(await read("t", "d")).toBe("2");
    });

    test("a first one that is written again is not another, nor in another write", async () => {
      const change = put("a", "1", "first");
      await records.write("t", [change]);

      expect((await records.write("t", [change])).kept).toEqual([]);
      expect((await records.write("t", [put("a", "2", "first")])).kept).toEqual(["a"]);
      expect(await read("t", "a")).toBe("1");
    });

    test("one key may change several times in a write, in order", async () => {
      await records.write("t", [put("gone")]);
      const { kept } = await records.write("t", [
        put("a", "1"),
        put("a", "2"),
        put("b", "1"),
        { key: "b", value: null },
        { key: "gone", value: null },
        put("gone", "back"),
        put("c", "1", "content"),
        put("c", "1", "content"),
        put("d", "1", "first"),
        put("d", "2", "first"),
      ]);

      expect(kept).toEqual(["d"]);
      expect(await keysOf("t")).toEqual(["a", "c", "d", "gone"]);
      expect([await read("t", "a"), await read("t", "gone")]).toEqual(["2", "back"]);
      expect(await read("t", "d")).toBe("1");
    });

    test("a value of null removes, also what is not there", async () => {
      await records.write("t", [put("a"), put("b")]);
      await records.write("t", [
        { key: "a", value: null },
        { key: "z", value: null },
      ]);

      expect(await keysOf("t")).toEqual(["b"]);
    });

    test("keys are scanned in the order of their bytes, between ends, from either side", async () => {
      const keys = ["c/a", "c/B", "c/-", "c/~", "c/%0025", "c0", "b/x", "d/"];
      await records.write(
        "t",
        keys.map((key) => put(key)),
      );

      const sorted = ["c/%0025", "c/-", "c/B", "c/a", "c/~"];
      expect(await keysOf("t", { prefix: "c/" })).toEqual(sorted);
      expect(await keysOf("t", { prefix: "c/", isReverse: true })).toEqual(sorted.toReversed());
      expect(await keysOf("t", { prefix: "c/", limit: 2 })).toEqual(sorted.slice(0, 2));
      expect(await keysOf("t", { prefix: "c/", isReverse: true, limit: 1 })).toEqual(["c/~"]);
      expect(await keysOf("t", { prefix: "c/", after: "c/B" })).toEqual(["c/a", "c/~"]);
      expect(await keysOf("t", { prefix: "c/", before: "c/B", isReverse: true })).toEqual([
        "c/-",
        "c/%0025",
      ]);
      expect(await keysOf("t", { prefix: "x" })).toEqual([]);
      const [record] = await records.scan("t", { prefix: "b/", limit: 1 });
      expect(new TextDecoder().decode(record?.value)).toBe("b/x");
      const [bare] = await records.scan("t", { prefix: "b/", limit: 1, isKeysOnly: true });
      expect(bare?.value.length).toBe(0);
    });

    test("a write whose condition does not hold writes nothing", async () => {
      await records.write("t", [put("a")]);
      const revision = await records.revision("t");

      const lacking = await records.write("t", [put("b")], { requires: "missing" });
      const older = await records.write("t", [put("b")], { ifRevision: revision - 1 });
      const nowhere = await records.write("new", [put("b")], { requires: "a" });

      expect([lacking, older, nowhere].map(({ isDone }) => isDone)).toEqual([false, false, false]);
      expect(await keysOf("t")).toEqual(["a"]);
      expect(await records.threads({ limit: LIMIT })).toEqual(["t"]);
      expect((await records.write("t", [put("b")], { requires: "a" })).isDone).toBe(true);
      const now = await records.revision("t");
      expect(now).toBeGreaterThan(revision);
      expect((await records.write("t", [put("c")], { ifRevision: now })).isDone).toBe(true);
      expect((await records.write("new", [put("c")], { ifRevision: 0 })).isDone).toBe(true);
    });

    test("threads know nothing of each other, whatever their names are", async () => {
      const names = ["a", "ab", "a/b", "ä", "a b", "__proto__", "a%", "A", "😀", "x".repeat(500)];
      for (const name of names) await records.write(name, [put("k", name)]);

      const sorted = names.toSorted((one, other) =>
        Buffer.compare(Buffer.from(one), Buffer.from(other)),
      );
      expect(await records.threads({ limit: LIMIT })).toEqual(sorted);
      expect(await records.threads({ after: sorted[2] as string, limit: 2 })).toEqual(
        sorted.slice(3, 5),
      );
      await records.deleteThread("a");
      await records.deleteThread("never");
      expect(await keysOf("a")).toEqual([]);
      expect(await records.revision("a")).toBe(0);
      for (const name of names.slice(1)) expect(await read(name, "k")).toBe(name);
    });

    test("many records are read, scanned by pages and deleted", async () => {
      const keys = Array.from({ length: 2500 }, (_, at) => `k/${String(at).padStart(5, "0")}`);
      for (let at = 0; at < keys.length; at += 500) {
        await records.write(
          "t",
          keys.slice(at, at + 500).map((key) => put(key)),
        );
      }

      const found: string[] = [];
      for (let page = await keysOf("t", { prefix: "k/" }); page.length > 0; ) {
        found.push(...page);
        page = await keysOf("t", { prefix: "k/", after: page.at(-1) });
      }
      expect(found).toEqual(keys);
      expect((await records.read("t", keys)).size).toBe(keys.length);
      await records.deleteThread("t");
      expect(await keysOf("t")).toEqual([]);
    });

    test("a write has thousands of changes, and values as large as they may be", async () => {
      const keys = Array.from({ length: 3000 }, (_, at) => `o/${at}`);
      const large = new Uint8Array(VALUE_BYTES_MAX).fill(5);
      const puts = keys.map((key) => put(key, key, "content"));
      await records.write("t", [...puts, { key: "x/large", value: large }]);
      expect((await records.scan("t", { prefix: "o/", limit: 5000 })).length).toBe(keys.length);
      expect((await records.read("t", ["x/large"])).get("x/large")?.length).toBe(VALUE_BYTES_MAX);

      const revision = await records.revision("t");
      const deletes = keys.map((key) => ({ key, value: null }));
      const { isDone } = await records.write("t", deletes, { ifRevision: revision });
      expect(isDone).toBe(true);
      expect(await keysOf("t")).toEqual(["x/large"]);
    });

    test("writes at once all happen, each of several firsts once", async () => {
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          records.write("t", [put("one", String(at), "first"), put(`k${at}`)]),
        ),
      );

      expect(results.filter(({ kept }) => kept.length === 0)).toHaveLength(1);
      const winner = results.findIndex(({ kept }) => kept.length === 0);
      expect(await read("t", "one")).toBe(String(winner));
      expect(await keysOf("t")).toHaveLength(21);
    });

    test("what was answered outlives the program", async () => {
      await records.write("t", [put("a")]);
      if (again === null) return;

      await using other = await again();
      expect(await read("t", "a", other)).toBe("a");
      await other.write("t", [put("b")]);
      expect(await read("t", "b")).toBe("b");
    });
  });
}
