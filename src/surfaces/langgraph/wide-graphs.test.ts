import { Command } from "@langchain/langgraph";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { describe, expect, test } from "vitest";
import { at, checkpointOf, META } from "../../../test/support/saver-checkpoints.ts";
import {
  said,
  twoLists,
  WIDE_THREAD,
  walkWideGraph,
  wideGraph,
} from "../../../test/support/wide-graph.ts";
import { MemoryRecords } from "../../portable/records/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { WaypointSaver } from "./waypoint-saver.ts";

const ADDRESSES = ["memory:", "sqlite::memory:"];
const DURABILITIES = ["sync", "async", "exit"] as const;

const DELTA = { isDelta: true, durability: "sync" } as const;

function walkTwoLists(steps: number) {
  return async (saver: WaypointSaver) => {
    const graph = twoLists(saver, steps);
    await graph.invoke({ log: ["in"], other: ["in"] }, { ...WIDE_THREAD, durability: "sync" });
    return { graph };
  };
}

describe.each(DURABILITIES)("every state of a graph's history, %s", (durability) => {
  test.each(ADDRESSES)("is what MemorySaver has, on %s", async (address) => {
    await using saver = await WaypointSaver.open(address);
    const expected = await walkWideGraph(new MemorySaver(), { isDelta: false, durability });

    const { histories } = await walkWideGraph(saver, { isDelta: false, durability });

    expect(histories).toEqual(expected.histories);
  });

  test.each(ADDRESSES)(
    "is the same where lists are kept as their writes, on %s",
    async (address) => {
      await using saver = await WaypointSaver.open(address);
      const expected = await walkWideGraph(new MemorySaver(), { isDelta: false, durability });

      const { histories } = await walkWideGraph(saver, { isDelta: true, durability });

      const newest = (all: typeof histories) => all.map(([first]) => first);
      expect(newest(histories)).toEqual(newest(expected.histories));
      if (durability !== "exit") expect(histories).toEqual(expected.histories);
    },
  );
});

type Walk = (
  saver: WaypointSaver,
) => Promise<Pick<Awaited<ReturnType<typeof walkWideGraph>>, "graph">>;
const WALKS: [string, Walk][] = [
  ["a wide graph", (saver) => walkWideGraph(saver, DELTA)],
  ...[5, 7, 8, 12].map((steps): [string, Walk] => [`two lists of ${steps}`, walkTwoLists(steps)]),
];
test.each(WALKS)("what a pruning keeps of %s reads as before", async (_, walk) => {
  for (const keepLast of [1, 2, 3, 5, 8]) {
    await using saver = await WaypointSaver.open("memory:");
    const { graph } = await walk(saver);
    const statesOf = async () => {
      const states = new Map<unknown, object>();
      for await (const each of graph.getStateHistory(WIDE_THREAD)) {
        states.set(each.config.configurable?.["checkpoint_id"], said(each));
      }
      return states;
    };
    const before = await statesOf();
    await saver.prune({ keepLast });

    const after = await statesOf();
    expect(after.size).toBeGreaterThanOrEqual(Math.min(keepLast, before.size));
    for (const [id, state] of after) expect(state).toEqual(before.get(id));
  }
});

test("a copy of a thread that waits in a subgraph goes on there", async () => {
  await using saver = await WaypointSaver.open("memory:");
  const graph = wideGraph(saver, false);
  await graph.invoke({ log: ["in"], other: [] }, { ...WIDE_THREAD, durability: "sync" });
  const head = (await graph.getState(WIDE_THREAD)).config.configurable?.["checkpoint_id"];
  await saver.copyThread("wide", "whole");
  await saver.copyThread("wide", "way", { upTo: head as string });
  const subgraphs = async (thread_id: string) => {
    const found = [];
    for await (const { config } of saver.list({ configurable: { thread_id } })) {
      if (config.configurable?.["checkpoint_ns"] !== "") found.push(config);
    }
    return found.length;
  };
  expect(await subgraphs("wide")).toBeGreaterThan(0);
  expect(await subgraphs("way")).toBe(await subgraphs("wide"));

  const resume = (thread_id: string) =>
    graph.invoke(new Command({ resume: "R" }), { configurable: { thread_id } });
  const [first, whole, way] = [await resume("wide"), await resume("whole"), await resume("way")];
  expect(whole["log"]).toEqual(first["log"]);
  expect(way["log"]).toEqual(first["log"]);
});

test("a checkpoint is whole though the writes before it did not reach the store", async () => {
  const records = new MemoryRecords();
  const write = records.write.bind(records);
  records.write = async (thread, changes, conditions) => {
    if (!changes.some(({ key }) => key.startsWith("w/"))) {
      return await write(thread, changes, conditions);
    }
    throw new WaypointError("STORE_FULL", "No room.");
  };
  const saver = new WaypointSaver(records);
  const long = "x".repeat(20_000);
  const root = await saver.put(at("t"), checkpointOf({ a: 1 }), META, { a: 1 });

  const writing = saver.putWrites(root, [["a", long]], "task");
  const putting = saver.put(root, checkpointOf({ a: long }, { a: 2 }), META, { a: 2 });
  await expect(writing).rejects.toThrow(expect.objectContaining({ code: "STORE_FULL" }));

  expect((await saver.getTuple(await putting))?.checkpoint.channel_values).toEqual({ a: long });
});

test("a checkpoint that is put below itself keeps its parent, and a line of circles has an end", async () => {
  const saver = new WaypointSaver(new MemoryRecords());
  const root = await saver.put(at("t"), checkpointOf({ a: 1 }), META, { a: 1 });
  const head = checkpointOf({ a: 1 });
  const config = await saver.put(root, head, META, {});
  await saver.put(config, { ...head, channel_values: { a: 2 } }, META, { a: 1 });

  expect(await saver.getTuple(config)).toMatchObject({
    checkpoint: { channel_values: { a: 2 } },
    parentConfig: root,
  });
  // Nobody puts this; a store may have it all the same.
  const [one, two] = [checkpointOf({}), checkpointOf({})];
  const counting = { ...META, counters_since_delta_snapshot: { log: [1, 1] as [number, number] } };
  await saver.put(at("c", two.id), one, counting, {});
  await saver.put(at("c", one.id), two, counting, {});
  await expect(
    saver.getDeltaChannelHistory({ config: at("c", two.id), channels: ["log"] }),
  ).rejects.toThrow(expect.objectContaining({ code: "STORE_FAILED" }));
  expect(await saver.prune({ threads: ["c"] })).toMatchObject({ checkpoints: 0 });
  expect(await saver.copyThread("c", "d", { upTo: two.id })).toBe(2);
});
