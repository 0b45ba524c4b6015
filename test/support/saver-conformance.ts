import { DeltaSnapshot, INTERRUPT, RESUME } from "@langchain/langgraph-checkpoint";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { WaypointSaver } from "../../src/surfaces/langgraph/index.ts";
import { at, checkpointOf, META, putValues } from "./saver-checkpoints.ts";
import { describeThreads } from "./saver-threads.ts";

const MANY_TIMEOUT_MS = 600_000;

/**
 * What a saver of ours promises and LangGraph's own suite does not ask for, as tests.
 *
 * @param open  returns one on an empty store, and a second one on the same where it outlives the program
 * @param many  how many checkpoints a long thread has
 */
export function describeSaver(
  name: string,
  open: () => Promise<{ saver: WaypointSaver; again: (() => Promise<WaypointSaver>) | null }>,
  many: number,
): void {
  describe(`saver on ${name}`, () => {
    let saver: WaypointSaver;
    let again: (() => Promise<WaypointSaver>) | null;
    beforeEach(async () => {
      ({ saver, again } = await open());
    });
    afterEach(async () => {
      await saver[Symbol.asyncDispose]();
    });

    const put = (parent: object, values: object, versions: object, fresh: string[]) =>
      putValues(saver, parent, { values, versions, fresh });
    const valuesAt = async (config: object) =>
      (await saver.getTuple(config))?.checkpoint.channel_values;

    test("a channel has the value of its own line, though versions are the same", async () => {
      const root = await put(at("t"), { a: "root", b: "b" }, { a: 1, b: 1 }, ["a", "b"]);
      const one = await put(root, { a: "one", b: "b" }, { a: 2, b: 1 }, ["a"]);
      const other = await put(root, { a: "other", b: "b" }, { a: 2, b: 1 }, ["a"]);
      const child = await put(one, { a: "one", b: "c" }, { a: 2, b: 2 }, ["b"]);

      expect(await valuesAt(root)).toEqual({ a: "root", b: "b" });
      expect(await valuesAt(one)).toEqual({ a: "one", b: "b" });
      expect(await valuesAt(other)).toEqual({ a: "other", b: "b" });
      expect(await valuesAt(child)).toEqual({ a: "one", b: "c" });
    });

    test("writes that come before their checkpoint belong to it", async () => {
      const checkpoint = checkpointOf({ a: 1 });
      await saver.putWrites(at("t", checkpoint.id), [["a", "early"]], "task");
      await saver.put(at("t"), checkpoint, META, { a: 1 });

      expect((await saver.getTuple(at("t")))?.pendingWrites).toEqual([["task", "a", "early"]]);
    });

    test("the newest is the one with the greatest id, whichever was put last", async () => {
      const [older, newer] = [checkpointOf({ a: "older" }), checkpointOf({ a: "newer" })];
      await saver.put(at("t"), newer, META, { a: 1 });
      await saver.put(at("t"), older, META, { a: 1 });

      expect(await valuesAt(at("t"))).toEqual({ a: "newer" });
      const listed: string[] = [];
      for await (const { checkpoint } of saver.list(at("t"))) listed.push(checkpoint.id);
      expect(listed).toEqual([newer.id, older.id]);
    });

    test("the first writes of a task stay; interrupts and answers are replaced", async () => {
      const config = await put(at("t"), { a: 1 }, { a: 1 }, ["a"]);
      await saver.putWrites(config, [["a", "first"]], "b");
      await saver.putWrites(
        config,
        [
          ["a", "second"],
          ["c", "added"],
        ],
        "b",
      );
      await saver.putWrites(config, [[INTERRUPT, "asked"]], "a");
      await saver.putWrites(config, [[INTERRUPT, "asked again"]], "a");
      await saver.putWrites(config, [[RESUME, ["yes"]]], "a");

      expect((await saver.getTuple(config))?.pendingWrites).toEqual([
        ["a", RESUME, ["yes"]],
        ["a", INTERRUPT, "asked again"],
        ["b", "a", "first"],
        ["b", "c", "added"],
      ]);
    });

    test("bytes come back as they were: alone, inside of others, any of them", async () => {
      const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
      const large = new Uint8Array(100_000).map((_, index) => (index * 7919) % 251);
      const values = { bytes, large, inside: { list: [bytes, "\0"] } };
      const config = await put(at("t"), values, {}, Object.keys(values));
      await saver.putWrites(config, Object.entries(values), "task");

      const tuple = await saver.getTuple(config);
      expect(tuple?.checkpoint.channel_values).toEqual(values);
      expect(tuple?.pendingWrites?.map(([, , value]) => value)).toEqual(Object.values(values));
      expect(tuple?.pendingWrites?.[0]?.[2]).toBeInstanceOf(Uint8Array);
    });

    test("NUL, undefined, dates, maps, sets, patterns and errors are what LangGraph makes of them", async () => {
      const values = {
        nul: "a\0b",
        none: undefined,
        map: new Map([["k", { deep: new Set([1]) }]]),
        pattern: /a+/gi,
        error: new Error("why"),
        snapshot: new DeltaSnapshot([1]),
        date: new Date(0),
        big: 2n ** 70n,
        forged: { lc: 2, type: "undefined" },
        ["__proto__"]: "a key like others",
      };
      const config = await put(at("t"), values, {}, Object.keys(values));

      const found = await valuesAt(config);
      expect(found).toEqual({ ...values, date: "1970-01-01T00:00:00.000Z" });
      expect(Object.hasOwn(found ?? {}, "none")).toBe(true);
    });

    test("parents are named as they were given, also where there is none", async () => {
      const root = await put(at("t"), { a: 1 }, { a: 1 }, ["a"]);
      const child = await put(root, { a: 2 }, { a: 2 }, ["a"]);
      const orphan = await put(at("t", "never-there"), { a: 3 }, { a: 3 }, ["a"]);

      expect((await saver.getTuple(root))?.parentConfig).toBeUndefined();
      expect((await saver.getTuple(child))?.parentConfig).toEqual(root);
      expect((await saver.getTuple(orphan))?.parentConfig).toEqual(at("t", "never-there"));
      expect(await valuesAt(orphan)).toEqual({ a: 3 });
    });

    test("filters compare whole values of the metadata, and before is exclusive", async () => {
      const ids: string[] = [];
      for (const step of [0, 1, 2, 3]) {
        const checkpoint = checkpointOf({ a: step }, { a: step + 1 });
        const metadata = { ...META, step, nested: { even: step % 2 === 0 } };
        await saver.put(at("t", ids.at(-1)), checkpoint, metadata, { a: step + 1 });
        ids.push(checkpoint.id);
      }
      const stepsOf = async (options: object) => {
        const steps: unknown[] = [];
        for await (const { metadata } of saver.list(at("t"), options)) steps.push(metadata?.step);
        return steps;
      };

      expect(await stepsOf({ filter: { step: 2 } })).toEqual([2]);
      expect(await stepsOf({ filter: { nested: { even: true } } })).toEqual([2, 0]);
      expect(await stepsOf({ filter: { nested: true } })).toEqual([]);
      expect(await stepsOf({ filter: { missing: 1 } })).toEqual([]);
      expect(await stepsOf({ before: at("t", ids[2]) })).toEqual([1, 0]);
      expect(await stepsOf({ before: at("t", ids[3]), limit: 1 })).toEqual([2]);
      expect(await stepsOf({ limit: 0 })).toEqual([]);
    });

    test("namespaces of subgraphs are apart, and are listed with the thread", async () => {
      const namespaces = [
        "",
        "child",
        "child:a",
        "child:a|deep:b",
        "child/x",
        "%",
        "ü".repeat(300),
      ];
      for (const namespace of namespaces) {
        await saver.put(at("t", undefined, namespace), checkpointOf({ namespace }), META, {
          namespace: 1,
        });
      }

      for (const namespace of namespaces) {
        expect(await valuesAt(at("t", undefined, namespace))).toEqual({ namespace });
      }
      const listed: unknown[] = [];
      for await (const { config } of saver.list({ configurable: { thread_id: "t" } })) {
        listed.push(config.configurable?.["checkpoint_ns"]);
      }
      expect(listed.sort()).toEqual(namespaces.toSorted());
    });

    test("many writers of one thread lose nothing", async () => {
      const root = await put(at("t"), { a: "root" }, { a: 1 }, ["a"]);
      const writers = await Promise.all(
        Array.from({ length: 8 }, async () => (again === null ? saver : await again())),
      );
      const ends = await Promise.all(
        writers.map(async (writer, index) => {
          let config: object = root;
          for (let step = 0; step < 5; step += 1) {
            const checkpoint = checkpointOf({ a: `${index}.${step}` }, { a: step + 2 });
            await writer.putWrites(config, [["a", `${index}.${step}`]], `task-${index}`);
            config = await writer.put(config, checkpoint, META, { a: step + 2 });
          }
          return config;
        }),
      );

      for (const [index, end] of ends.entries())
        expect(await valuesAt(end)).toEqual({ a: `${index}.4` });
      let count = 0;
      for await (const _ of saver.list(at("t"))) count += 1;
      expect(count).toBe(41);
      expect((await saver.getTuple(root))?.pendingWrites).toHaveLength(8);
      if (again !== null) for (const writer of writers) await writer[Symbol.asyncDispose]();
    });

    test("a deleted thread is gone with its writes, and one of a like name is not", async () => {
      for (const thread of ["a", "ab", "a/b"]) {
        await saver.putWrites(
          await saver.put(at(thread), checkpointOf({ x: thread }), META, { x: 1 }),
          [["x", 1]],
          "t",
        );
      }
      await saver.deleteThread("a");

      expect(await saver.getTuple(at("a"))).toBeUndefined();
      expect(await valuesAt(at("ab"))).toEqual({ x: "ab" });
      expect(await valuesAt(at("a/b"))).toEqual({ x: "a/b" });
      const empty = await saver.put(at("a"), checkpointOf({ x: 1 }), META, { x: 1 });
      expect((await saver.getTuple(empty))?.pendingWrites).toEqual([]);
    });

    test("a put whose parent somebody has deleted meanwhile is whole", async () => {
      const long = "x".repeat(50_000);
      const root = await put(at("t"), { a: long, b: 1 }, { a: 1, b: 1 }, ["a", "b"]);
      const other = again === null ? saver : await again();
      await other.deleteThread("t");
      const child = await put(root, { a: long, b: 2 }, { a: 1, b: 2 }, ["b"]);

      expect(await valuesAt(child)).toEqual({ a: long, b: 2 });
      if (other !== saver) await other[Symbol.asyncDispose]();
    });

    test("config without a thread, an id that is not there and other types are told apart", async () => {
      expect(await saver.getTuple({ configurable: {} })).toBeUndefined();
      expect(await saver.getTuple(at("t", "unknown"))).toBeUndefined();
      const invalid = expect.objectContaining({ code: "USAGE_INVALID" });
      const checkpoint = checkpointOf({ a: 1 });
      await expect(saver.put({ configurable: {} }, checkpoint, META, {})).rejects.toThrow(invalid);
      await expect(saver.put({}, checkpoint, META, {})).rejects.toThrow(invalid);
      await expect(
        saver.put({ configurable: { thread_id: 7 } }, checkpoint, META, {}),
      ).rejects.toThrow(invalid);
      await expect(saver.putWrites(at("t"), [["a", 1]], "task")).rejects.toThrow(invalid);
      const endless = at("t", "x".repeat(5000));
      await expect(saver.putWrites(endless, [["a", 1]], "task")).rejects.toThrow(invalid);
    });

    test("what is appended to a long list is all that is written of it", async () => {
      const item = (index: number) => ({ role: "user", content: `${index} `.repeat(100) });
      const list = Array.from({ length: 400 }, (_, index) => item(index));
      let config = await put(at("t"), { list }, { list: 1 }, ["list"]);
      for (let step = 2; step < 12; step += 1) {
        list.push(item(1000 + step));
        config = await put(config, { list: [...list] }, { list: step }, ["list"]);
      }

      expect(await valuesAt(config)).toEqual({ list });
    });

    describeThreads(() => saver);

    test(
      `${many} checkpoints of a thread are put, found and listed`,
      async () => {
        let config: object = at("t");
        const ids: string[] = [];
        for (let step = 0; step < many; step += 1) {
          const checkpoint = checkpointOf({ a: step }, { a: step + 1 });
          config = await saver.put(config, checkpoint, { ...META, step }, { a: step + 1 });
          ids.push(checkpoint.id);
        }

        expect(await valuesAt(at("t"))).toEqual({ a: many - 1 });
        expect(await valuesAt(at("t", ids[Math.floor(many / 2)]))).toEqual({
          a: Math.floor(many / 2),
        });
        let count = 0;
        for await (const { checkpoint } of saver.list(at("t"))) {
          count += 1;
          if (checkpoint.id !== ids[many - count]) throw new Error(`at ${count}: another one`);
        }
        expect(count).toBe(many);
      },
      MANY_TIMEOUT_MS,
    );
  });
}
