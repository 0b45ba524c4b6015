import { Command, interrupt, type MemorySaver, Send, StateGraph } from "@langchain/langgraph";
import { beforeEach, describe, expect, test } from "vitest";
import type { FakeSession, FakeWorld } from "../../../../test/support/fake-linkable-session.ts";
import {
  IN,
  LinkedWorld,
  LogState,
  line,
  node,
  T1,
  type Work,
  whereNext,
} from "../../../../test/support/linked-graph.ts";
import { linkOf } from "./link-record.ts";
import { linkSession } from "./link-session.ts";
import type { LinkedSaver } from "./linked-saver.ts";

let own: LinkedWorld;
let world: FakeWorld;
let session: FakeSession;
let memory: MemorySaver;

beforeEach(() => {
  own = new LinkedWorld();
  ({ world, session, memory } = own);
});

describe("an interrupt", () => {
  const asking = (linked: LinkedSaver<FakeSession>) =>
    line(linked, { b: (own) => own.do(`(${interrupt("sure?")})`) });

  test("is resumed with the machine as it was left, whatever was done since", async () => {
    await asking(linkSession(memory, session)).invoke(IN, T1);
    expect(session.machine).toEqual(["a", "b"]);
    session.do("by hand");

    await asking(linkSession(memory, session)).invoke(new Command({ resume: "yes" }), T1);
    // The node runs again from its top, as LangGraph has it.
    expect(session.machine).toEqual(["a", "b", "b", "(yes)", "c"]);
  });

  test("moves nothing where nothing was done since", async () => {
    const graph = asking(linkSession(memory, session));
    await graph.invoke(IN, T1);
    await graph.invoke(new Command({ resume: "yes" }), T1);
    expect(world.calls.some((call) => call.startsWith("restore"))).toBe(false);
  });

  test("whose resumed run was killed is resumed again from the same machine", async () => {
    const graph = asking(linkSession(memory, session));
    await graph.invoke(IN, T1);
    let isKilled = true;
    const killed = line(linkSession(memory, session), {
      b: (own) => {
        own.do(`(${interrupt("sure?")})`);
        if (isKilled) throw new Error("killed");
      },
    });
    await expect(killed.invoke(new Command({ resume: "yes" }), T1)).rejects.toThrow("killed");
    isKilled = false;
    await killed.invoke(null, T1);
    expect(session.machine).toEqual(["a", "b", "b", "(yes)", "c"]);
  });

  test("that is answered by an update goes on with that machine", async () => {
    const graph = asking(linkSession(memory, session));
    await graph.invoke(IN, T1);
    await graph.updateState(T1, { log: ["by hand"] }, "b");
    session.do("whatever");
    await graph.invoke(null, T1);
    expect(session.machine).toEqual(["a", "b", "c"]);
  });

  test("can be gone back before", async () => {
    const graph = asking(linkSession(memory, session));
    await graph.invoke(IN, T1);
    await graph.invoke(new Command({ resume: "yes" }), T1);
    await graph.invoke(null, await whereNext(graph, "b"));
    expect(session.machine).toEqual(["a", "b"]);
  });
});

describe("nodes side by side", () => {
  /** Two nodes after a; the second one does what is given. */
  function wide(linked: LinkedSaver<FakeSession>, second: Work) {
    return new StateGraph(LogState)
      .addNode("a", node(linked, "a"))
      .addNode("b", node(linked, "b"))
      .addNode("c", node(linked, "c", second))
      .addNode("d", node(linked, "d"))
      .addEdge("__start__", "a")
      .addEdge("a", "b")
      .addEdge("a", "c")
      .addEdge(["b", "c"], "d")
      .compile({ checkpointer: linked })
      .withConfig({ durability: "sync" });
  }
  const sorted = ({ machine }: FakeSession) => [...machine].sort().join("");

  test("run again together where one has failed: the machine has the work of none", async () => {
    let tries = 0;
    const graph = wide(linkSession(memory, session), async () => {
      await expect.poll(() => memory.getTuple(T1).then((t) => t?.pendingWrites?.length)).toBe(2);
      tries += 1;
      if (tries === 1) throw new Error("wrong");
    });
    await expect(graph.invoke(IN, T1)).rejects.toThrow("wrong");
    const { log } = (await graph.invoke(null, T1)) as { log: string[] };

    expect(log.join("")).toBe("inabcd");
    expect(sorted(session)).toBe("abcd");
    for (const [done, machine] of await own.pairs()) expect(done.replace("in", "")).toBe(machine);
  });

  test("are not run again where nothing has changed on the machine", async () => {
    const runs: string[] = [];
    let tries = 0;
    const graph = new StateGraph(LogState)
      .addNode("b", () => {
        runs.push("b");
        return { log: ["b"] };
      })
      .addNode("c", async () => {
        runs.push("c");
        await expect.poll(() => runs.length).toBeGreaterThan(1);
        tries += 1;
        if (tries === 1) throw new Error("wrong");
        return { log: ["c"] };
      })
      .addEdge("__start__", "b")
      .addEdge("__start__", "c")
      .compile({ checkpointer: linkSession(memory, session) })
      .withConfig({ durability: "sync" });
    await expect(graph.invoke(IN, T1)).rejects.toThrow("wrong");
    await graph.invoke(null, T1);
    expect(runs.filter((name) => name === "b")).toEqual(["b"]);
  });

  test("keep their work where one was interrupted", async () => {
    const graph = wide(linkSession(memory, session), (own) => own.do(`${interrupt("sure?")}`));
    await graph.invoke(IN, T1);
    session.do("by hand");
    await graph.invoke(new Command({ resume: "!" }), T1);
    expect(sorted(session)).toBe("!abccd");
  });

  test("that are sent run with the machine of the step before", async () => {
    const linked = linkSession(memory, session);
    const graph = new StateGraph(LogState)
      .addNode("a", node(linked, "a"))
      .addNode("w", node(linked, "w"))
      .addEdge("__start__", "a")
      .addConditionalEdges("a", () => [new Send("w", { log: [] }), new Send("w", { log: [] })], [
        "w",
      ])
      .compile({ checkpointer: linked })
      .withConfig({ durability: "sync" });
    await graph.invoke(IN, T1);
    expect((await own.pairs()).at(-1)).toEqual(["inaww", "aww"]);
  });
});

describe("a subgraph", () => {
  function nested(linked: LinkedSaver<FakeSession>, works: Record<string, Work>) {
    const inner = new StateGraph(LogState)
      .addNode("x", node(linked, "x", works["x"]))
      .addNode("y", node(linked, "y", works["y"]))
      .addEdge("__start__", "x")
      .addEdge("x", "y")
      .compile();
    return new StateGraph(LogState)
      .addNode("a", node(linked, "a"))
      .addNode("in", inner)
      .addEdge("__start__", "a")
      .addEdge("a", "in")
      .compile({ checkpointer: linked })
      .withConfig({ durability: "sync" });
  }

  test("that failed half-way runs again from its beginning, on the machine of then", async () => {
    let tries = 0;
    const fail = () => {
      tries += 1;
      if (tries === 1) throw new Error("wrong");
    };
    const graph = nested(linkSession(memory, session), { y: fail });
    await expect(graph.invoke(IN, T1)).rejects.toThrow("wrong");
    await graph.invoke(null, T1);
    expect(session.machine).toEqual(["a", "x", "y"]);
  });

  test("that was interrupted goes on where it was", async () => {
    const ask = (own: FakeSession) => own.do(`${interrupt("sure?")}`);
    const graph = nested(linkSession(memory, session), { y: ask });
    await graph.invoke(IN, T1);
    session.do("by hand");
    await graph.invoke(new Command({ resume: "!" }), T1);
    expect(session.machine).toEqual(["a", "x", "y", "y", "!"]);
  });

  test("has no steps in the history of the graph, and its own where they are asked for", async () => {
    const linked = linkSession(memory, session);
    await nested(linked, {}).invoke(IN, T1);
    const namespaces = new Set<string>();
    for await (const { config } of memory.list(T1)) {
      namespaces.add(config.configurable?.["checkpoint_ns"] as string);
    }
    const inner = [...namespaces].find((each) => each.startsWith("in:"));
    const found = [];
    for (const checkpoint_ns of [undefined, inner]) {
      const of = checkpoint_ns === undefined ? {} : { checkpoint_ns };
      const steps = linked.history({ configurable: { ...T1.configurable, ...of } });
      for await (const { tuple } of steps) found.push(tuple.metadata?.step);
    }
    expect(found).toEqual([2, 1, 0, -1, 2, 1, 0, -1]);
  });

  test("has the link of the graph's step", async () => {
    const graph = nested(linkSession(memory, session), {});
    await graph.invoke(IN, T1);
    const links = [];
    for await (const tuple of memory.list({ configurable: { thread_id: "t1" } })) {
      const { checkpoint_ns: namespace } = tuple.config.configurable ?? {};
      if (String(namespace).startsWith("in:")) links.push(linkOf(tuple));
    }
    expect(links).toHaveLength(4);
    expect(links).toEqual(links.map(() => ({ session: "s1", checkpoint: "c3", taken: false })));
  });
});
