import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { AIMessage } from "@langchain/core/messages";
import { type BaseCheckpointSaver, MemorySaver } from "@langchain/langgraph-checkpoint";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { forkBefore, runChain } from "../../../test/support/forked-graphs.ts";
import { at, checkpointOf } from "../../../test/support/saver-checkpoints.ts";
import { MemoryRecords, RetriedRecords, type ThreadRecords } from "../../portable/records/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { WaypointSaver } from "./waypoint-saver.ts";

const OURS: [string, () => Promise<WaypointSaver>][] = [
  ["memory", () => WaypointSaver.open("memory:")],
  ["SQLite", () => WaypointSaver.open("sqlite::memory:")],
];
const THEIRS: [string, () => BaseCheckpointSaver][] = [
  ["MemorySaver", () => new MemorySaver()],
  ["SqliteSaver", () => SqliteSaver.fromConnString(":memory:")],
];
const directory = mkdtempSync(path.join(tmpdir(), "waypoint-defects-"));
afterAll(() => rmSync(directory, { recursive: true }));

const META = { source: "loop", step: 0, parents: {} } as const;

describe("channels that are kept as their writes", () => {
  const edits = ["F1", "F2"];

  test.each(OURS)("forks of one checkpoint do not mix on %s", async (_, open) => {
    await using saver = await open();

    expect(await forkBefore(saver, edits, { isDelta: true })).toEqual({
      forks: [
        { updated: ["in", "a", "F1"], ended: ["in", "a", "F1", "b"] },
        { updated: ["in", "a", "F2"], ended: ["in", "a", "F2", "b"] },
      ],
      origin: ["in", "a", "b"],
    });
  });

  test.each(THEIRS)("they do on %s", async (_, open) => {
    const { forks, origin } = await forkBefore(open(), edits, { isDelta: true });

    expect(origin).toContain("F1");
    expect(forks[1]?.updated).not.toContain("F2");
  });

  test("a program that was started anew tells the branches apart too", async () => {
    const address = `sqlite:${path.join(directory, "delta.sqlite")}`;
    await using first = await WaypointSaver.open(address);
    const root = await first.put(at("t"), checkpointOf({}), META, {});
    await first.putWrites(root, [["log", ["left"]]], "b");
    // The first program ends here; the second goes on with what it left.
    await using second = await WaypointSaver.open(address);
    await second.putWrites(root, [["log", ["right"]]], "c");
    const both = await second.put(root, checkpointOf({}), META, {});
    await using third = await WaypointSaver.open(address);
    await third.putWrites(root, [["log", ["edit"]]], "c");
    const edited = await third.put(root, checkpointOf({}), { ...META, source: "update" }, {});

    const logAt = async (config: object) => {
      const { log } = await third.getDeltaChannelHistory({ config, channels: ["log"] });
      return log?.writes.map(([, , value]) => value);
    };
    expect(await logAt(both)).toEqual([["left"], ["right"]]);
    expect(await logAt(edited)).toEqual([["edit"]]);
  });
});

test.each(OURS)("a fork's edit is there, in a channel with a reducer, on %s", async (_, open) => {
  await using saver = await open();

  expect(await forkBefore(saver, ["EDIT"], { isDelta: false })).toEqual({
    forks: [{ updated: ["in", "a", "EDIT"], ended: ["in", "a", "EDIT", "b"] }],
    origin: ["in", "a", "b"],
  });
});

describe("a write of nothing but bytes", () => {
  const bytes = Uint8Array.of(0xff, 0x00, 0xfe);

  test.each(OURS)("comes back as it was on %s", async (_, open) => {
    await using saver = await open();
    const config = await saver.put(at("t"), checkpointOf({}), META, {});
    await saver.putWrites(config, [["a", bytes]], "task");

    expect((await saver.getTuple(config))?.pendingWrites).toEqual([["task", "a", bytes]]);
  });

  test.each(THEIRS)("does not on %s", async (_, open) => {
    const saver = open();
    const config = await saver.put(at("t"), checkpointOf({}), META, {});
    const found = await Promise.resolve(saver.putWrites(config, [["a", bytes]], "task"))
      .then(() => saver.getTuple(config))
      .then(
        (tuple) => tuple?.pendingWrites?.[0]?.[2],
        () => "refused",
      );

    expect(found).not.toEqual(bytes);
  });
});

describe("a message of many levels", () => {
  const args = Array.from({ length: 60 }).reduce<object>((inner) => ({ inner }), {});
  const values = {
    message: new AIMessage({ content: "", tool_calls: [{ id: "1", name: "x", args }] }),
  };

  test.each(OURS)("comes back as it was on %s", async (_, open) => {
    await using saver = await open();
    const config = await saver.put(at("t"), checkpointOf(values), META, { message: 1 });

    const found = (await saver.getTuple(config))?.checkpoint.channel_values["message"];
    expect((found as AIMessage).tool_calls).toEqual(values.message.tool_calls);
  });

  test.each(THEIRS)("is an error on %s", async (_, open) => {
    const saver = open();
    const config = await saver.put(at("t"), checkpointOf(values), META, { message: 1 });

    await expect(saver.getTuple(config)).rejects.toThrow("recursion depth");
  });
});

describe("a put that fails once", () => {
  /** Lets each third call fail, once. */
  function failing<T extends object>(target: T, method: keyof T): T {
    let calls = 0;
    return new Proxy(target, {
      get(object, name) {
        const value = Reflect.get(object, name);
        if (typeof value !== "function") return value;
        return (...values: unknown[]) => {
          calls += name === method ? 1 : 0;
          if (name === method && calls === 3) {
            throw new WaypointError("STORE_UNREACHABLE", "The connection was lost.");
          }
          return value.apply(object, values);
        };
      },
    });
  }

  test.each(["sync", "async"] as const)("loses nothing here, %s", async (durability) => {
    const records: ThreadRecords = failing(new MemoryRecords(), "write");
    await using saver = new WaypointSaver(new RetriedRecords(records));

    expect(await runChain(saver, durability)).toEqual({ checkpoints: 8, error: null });
  });

  test("stops the later ones of a saver that does not try again", async () => {
    const { checkpoints, error } = await runChain(failing(new MemorySaver(), "put"), "sync");

    expect(error).toMatchObject({ code: "STORE_UNREACHABLE" });
    expect(checkpoints).toBeLessThan(8);
  });

  test("is an error with its code where the store stays away, and leaves what was there", async () => {
    const records = new MemoryRecords();
    await using saver = new WaypointSaver(new RetriedRecords(records));
    await saver.put(at("t"), checkpointOf({ a: 1 }), META, { a: 1 });
    records.write = async () => {
      throw new WaypointError("STORE_UNREACHABLE", "The connection was lost.");
    };

    await expect(saver.put(at("t"), checkpointOf({ a: 2 }), META, { a: 1 })).rejects.toThrow(
      expect.objectContaining({ code: "STORE_UNREACHABLE" }),
    );
    expect((await saver.getTuple(at("t")))?.checkpoint.channel_values).toEqual({ a: 1 });
  });
});
