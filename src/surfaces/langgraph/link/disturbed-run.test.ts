import { interrupt, MemorySaver, StateGraph } from "@langchain/langgraph";
import { beforeEach, describe, expect, test } from "vitest";
import type { FakeSession, FakeWorld } from "../../../../test/support/fake-linkable-session.ts";
import {
  IN,
  LinkedWorld,
  LogState,
  line,
  T1,
  whereNext,
} from "../../../../test/support/linked-graph.ts";
import { linkSession } from "./link-session.ts";

const T2 = { configurable: { thread_id: "t2" } };

let own: LinkedWorld;
let world: FakeWorld;
let session: FakeSession;
let memory: MemorySaver;

beforeEach(() => {
  own = new LinkedWorld();
  ({ world, session, memory } = own);
});

/** A run whose node b waits, and what lets it go on; another process would have such a saver, too. */
async function waitingInB(last: (session: FakeSession) => void = () => {}) {
  let go = () => {};
  const waits = new Promise<void>((resolve) => {
    go = resolve;
  });
  let isThere = false;
  const work = async (it: FakeSession) => {
    isThere = true;
    await waits;
    last(it);
  };
  const run = line(linkSession(memory, session), { b: work }).invoke(IN, T1);
  // Whoever waits for it looks at it later.
  run.catch(() => {});
  await expect.poll(() => isThere).toBe(true);
  return { run, go };
}

describe("of two runs of a thread in two processes", () => {
  test("the one that began first ends, and puts nothing more", async () => {
    const { run, go } = await waitingInB();
    await line(linkSession(memory, session)).invoke(null, T1);
    const before = await own.pairs();
    go();

    await expect(run).rejects.toMatchObject({ code: "GRAPH_CONFLICT", detail: { thread: "t1" } });
    expect(await own.pairs()).toEqual(before);
    expect(before.at(-1)).toEqual(["inabc", "abc"]);
  });

  test("the first keeps nothing of what its node wrote, nor of how it was left", async () => {
    const { run, go } = await waitingInB(() => interrupt("sure?"));
    const second = await waitingInB();
    const before = await memory.getTuple(T1);
    go();
    await expect(run).rejects.toMatchObject({ code: "GRAPH_CONFLICT" });
    expect((await memory.getTuple(T1))?.pendingWrites).toEqual(before?.pendingWrites);

    second.go();
    await second.run;
    expect((await own.pairs()).at(-1)?.[0]).toBe("inainabc");
  });

  test("the first gets no machine any more for what its nodes still do", async () => {
    const linked = linkSession(memory, session);
    let go = () => {};
    const waits = new Promise<void>((resolve) => {
      go = resolve;
    });
    const graph = new StateGraph(LogState)
      .addNode("b", async (_, config) => {
        session.do("b");
        await waits;
        (await linked.sessionOf(config)).do("late");
        return { log: ["b"] };
      })
      .addEdge("__start__", "b")
      .compile({ checkpointer: linked })
      .withConfig({ durability: "sync" });
    const first = graph.invoke(IN, T1);
    first.catch(() => {});
    await expect.poll(() => session.machine).toEqual(["b"]);
    await linked.prepare(T1);
    go();

    await expect(first).rejects.toMatchObject({ code: "GRAPH_CONFLICT" });
    expect(session.machine).not.toContain("late");
  });

  test("and a thread that another process has begun, and put nothing of yet, keeps its session", async () => {
    await linkSession(memory, session).prepare(T1);
    const other = line(linkSession(memory, session)).invoke(IN, T2);

    await expect(other).rejects.toMatchObject({ code: "GRAPH_CONFLICT", detail: { holder: "t1" } });
  });
});

describe("a run ends", () => {
  test("whose session somebody restores meanwhile, and the next one goes on from its last step", async () => {
    const { run, go } = await waitingInB();
    await session.restore("c2", {});
    session.do("by hand");
    go();

    await expect(run).rejects.toMatchObject({ code: "GRAPH_MACHINE_MOVED" });
    await expect(line(linkSession(memory, session)).invoke(null, T1)).resolves.toMatchObject({
      log: ["in", "a", "b", "c"],
    });
    expect(session.machine).toEqual(["a", "b", "c"]);
  });

  test("whose thread is deleted meanwhile", async () => {
    const { run, go } = await waitingInB();
    await linkSession(memory, session).deleteThread("t1");
    go();

    await expect(run).rejects.toMatchObject({
      ...{ code: "GRAPH_CONFLICT", message: expect.stringContaining("deleted") },
    });
    expect(await memory.getTuple(T1)).toBeUndefined();
  });
});

describe("a linked graph in a node of another graph", () => {
  test.each([
    ["without a saver", undefined],
    ["with another saver", new MemorySaver()],
  ])("%s is refused before its nodes run: its steps would have no machine", async (_, outer) => {
    const graph = line(linkSession(memory, session));
    const around = new StateGraph(LogState)
      .addNode("around", async () => await graph.invoke(IN, T1))
      .addEdge("__start__", "around")
      .compile(outer === undefined ? {} : { checkpointer: outer });

    await expect(around.invoke(IN, T2)).rejects.toMatchObject({ code: "USAGE_INVALID" });
    expect(session.machine).toEqual([]);
  });

  test("that has the linked saver runs as a part of it", async () => {
    const linked = linkSession(memory, session);
    const graph = line(linked);
    const around = new StateGraph(LogState)
      .addNode("around", async () => await graph.invoke({ log: [] }))
      .addEdge("__start__", "around")
      .compile({ checkpointer: linked })
      .withConfig({ durability: "sync" });

    await around.invoke(IN, T1);
    expect(session.machine).toEqual(["a", "b", "c"]);
    expect((await own.pairs()).at(-1)).toEqual(["inabc", "abc"]);
  });
});

describe("a thread", () => {
  test("whose session is not the one that is linked says so, and leaves this one alone", async () => {
    await line(linkSession(memory, session)).invoke(IN, T1);
    const other = world.new();
    other.do("other");
    const graph = line(linkSession(memory, other));

    await expect(graph.invoke(IN, T1)).rejects.toMatchObject({
      ...{ code: "GRAPH_MACHINE_GONE", message: expect.stringContaining("s1, and name-of-s2") },
    });
    expect(other.values).toEqual({});

    await line(linkSession(memory, other, { onMissing: "keep" })).invoke(IN, T1);
    expect(other.machine).toEqual(["other", "a", "b", "c"]);
  });

  test("that is a copy of one that is gone keeps its session when it goes back", async () => {
    await line(linkSession(memory, session)).invoke(IN, T1);
    for await (const { config, checkpoint, metadata, parentConfig } of memory.list(T1)) {
      const { checkpoint_ns = "", checkpoint_id } = { ...config.configurable };
      if (checkpoint_ns !== "" || metadata === undefined) continue;
      const parent = parentConfig?.configurable?.["checkpoint_id"] as string | undefined;
      const to = { ...T2.configurable, checkpoint_ns, checkpoint_id: parent };
      await memory.put({ configurable: to }, { ...checkpoint, id: checkpoint_id }, metadata);
    }
    await linkSession(memory, session).deleteThread("t1");
    const graph = line(linkSession(memory, session));
    session.do("by hand");
    await graph.invoke(IN, T2);

    const t3 = { configurable: { thread_id: "t3" } };
    await expect(line(linkSession(memory, session)).invoke(IN, t3)).rejects.toMatchObject({
      ...{ code: "GRAPH_CONFLICT", detail: { holder: "t2" } },
    });
  });
});

test("a mark is none of a thread's checkpoints", async () => {
  const linked = linkSession(memory, session);
  await line(linked).invoke(IN, T1);
  const found = [];
  for await (const { metadata } of linked.list(T1, { limit: 2 })) found.push(metadata?.step);
  expect(found).toEqual([3, 2]);
  const all = [];
  for await (const tuple of linked.list({}, { limit: 100 })) all.push(tuple);
  expect(all).toHaveLength(5);
  expect((await whereNext(line(linked), "b")).configurable?.["checkpoint_ns"]).toBe("");
});
