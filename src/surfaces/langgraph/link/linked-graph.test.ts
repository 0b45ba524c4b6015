import {
  Annotation,
  Command,
  interrupt,
  MemorySaver,
  Send,
  StateGraph,
} from "@langchain/langgraph";
import { beforeEach, describe, expect, test } from "vitest";
import { type FakeSession, FakeWorld } from "../../../../test/support/fake-linkable-session.ts";
import { linkOf } from "./link-record.ts";
import { linkSession } from "./link-session.ts";
import type { LinkedSaver } from "./linked-saver.ts";

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});
type Work = (session: FakeSession, log: string[]) => void | Promise<void>;

let world: FakeWorld;
let session: FakeSession;
let memory: MemorySaver;

beforeEach(() => {
  world = new FakeWorld();
  session = world.new();
  memory = new MemorySaver();
});

/** A node that does its name on the machine, then notes it in the state. */
function node(linked: LinkedSaver<FakeSession>, name: string, work: Work = () => {}) {
  return async ({ log }: typeof State.State, config: object) => {
    const own = await linked.sessionOf(config);
    own.do(name);
    await work(own, log);
    return { log: [name] };
  };
}

/** Three nodes in a line. */
function line(linked: LinkedSaver<FakeSession>, works: Record<string, Work> = {}) {
  return new StateGraph(State)
    .addNode("a", node(linked, "a", works["a"]))
    .addNode("b", node(linked, "b", works["b"]))
    .addNode("c", node(linked, "c", works["c"]))
    .addEdge("__start__", "a")
    .addEdge("a", "b")
    .addEdge("b", "c")
    .addEdge("c", "__end__")
    .compile({ checkpointer: linked })
    .withConfig({ durability: "sync" });
}

const T1 = { configurable: { thread_id: "t1" } };
const IN = { log: ["in"] };

/** Returns what the machine of each checkpoint of a thread is, by what its graph has done. */
async function pairs(thread = T1): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for await (const tuple of memory.list(thread)) {
    const { log = [] } = tuple.checkpoint.channel_values as { log?: string[] };
    const machine = world.moments.get(linkOf(tuple)?.checkpoint ?? "")?.machine;
    found.push([log.join(""), (machine ?? ["nothing"]).join("")]);
  }
  return found.reverse();
}

/** Returns the config of the checkpoint from which `next` runs. */
async function whereNext(graph: ReturnType<typeof line>, next: string) {
  for await (const { next: nodes, config } of graph.getStateHistory(T1)) {
    if (nodes[0] === next) return config;
  }
  throw new Error(`no checkpoint before ${next}`);
}

describe("a run", () => {
  test("has at each step the machine of its end", async () => {
    const graph = line(linkSession(memory, session));
    await graph.invoke(IN, T1);

    expect(await pairs()).toEqual([
      ...[
        ["", ""],
        ["in", ""],
        ["ina", "a"],
        ["inab", "ab"],
        ["inabc", "abc"],
      ],
    ]);
    expect(world.calls.filter((call) => call.startsWith("restore"))).toEqual([]);
  });

  test.each([["async"], ["exit"], [undefined]] as const)(
    "with durability %s is refused before a node runs",
    async (durability) => {
      const graph = line(linkSession(memory, session)).withConfig({});
      const run = graph.invoke(IN, { ...T1, durability: durability ?? "async" });

      await expect(run).rejects.toMatchObject({ code: "GRAPH_NOT_SYNC" });
      expect(session.machine).toEqual([]);
    },
  );

  test("whose machine cannot be captured stops, and goes on from where the graph is", async () => {
    const graph = line(linkSession(memory, session));
    world.failing = "checkpoint c4";
    await expect(graph.invoke(IN, T1)).rejects.toMatchObject({ code: "STORE_FULL" });
    expect(session.machine).toEqual(["a", "b"]);

    await expect(graph.invoke(null, T1)).resolves.toEqual({ log: ["in", "a", "b", "c"] });
    expect(session.machine).toEqual(["a", "b", "c"]);
  });

  test("whose checkpoint cannot be put leaves a machine that no step has, and does the step again", async () => {
    const graph = line(linkSession(memory, session));
    const put = memory.put.bind(memory);
    let puts = 0;
    memory.put = async (...args) => {
      puts += 1;
      if (puts === 4) throw new Error("no connection");
      return await put(...args);
    };
    await expect(graph.invoke(IN, T1)).rejects.toThrow("no connection");
    expect((await pairs()).at(-1)).toEqual(["ina", "a"]);

    await graph.invoke(null, T1);
    expect(session.machine).toEqual(["a", "b", "c"]);
    expect((await pairs()).at(-1)).toEqual(["inabc", "abc"]);
  });

  test("of which a node fails does it again on the machine of before", async () => {
    let tries = 0;
    const fail = () => {
      tries += 1;
      if (tries === 1) throw new Error("wrong");
    };
    const graph = line(linkSession(memory, session), { b: fail });
    await expect(graph.invoke(IN, T1)).rejects.toThrow("wrong");
    await graph.invoke(null, T1);

    expect(session.machine).toEqual(["a", "b", "c"]);
  });

  test("goes on with another saver object, as after a kill", async () => {
    const killed = line(linkSession(memory, session), {
      b: () => {
        throw new Error("killed");
      },
    });
    await expect(killed.invoke(IN, T1)).rejects.toThrow("killed");
    session.do("whatever ran on");

    await line(linkSession(memory, session)).invoke(null, T1);
    expect(session.machine).toEqual(["a", "b", "c"]);
    expect(world.calls.filter((call) => call.startsWith("restore"))).toEqual([
      "restore c3 without undo",
    ]);
  });

  test("on a session that has ended brings it back", async () => {
    const graph = line(linkSession(memory, session));
    await graph.invoke(IN, T1);
    session.runs = "ended";
    session.machine = [];
    await graph.invoke(IN, T1);

    expect(session.machine).toEqual(["a", "b", "c", "a", "b", "c"]);
  });

  test("of a thread of before it was linked begins with the machine as it is", async () => {
    await line(linkSession(memory, session)).invoke(IN, T1);
    const old = new MemorySaver();
    for await (const tuple of memory.list(T1)) {
      const { waypoint: _, ...metadata } = tuple.metadata as never as Record<string, never>;
      await old.put(tuple.parentConfig ?? T1, tuple.checkpoint, metadata as never);
    }
    memory = old;
    session.do("by hand");
    await line(linkSession(memory, session)).invoke(IN, T1);

    expect((await pairs()).at(-1)?.[1]).toBe("abcby handabc");
  });

  test("that another one of its thread has overtaken puts nothing more", async () => {
    let go = () => {};
    const waits = new Promise<void>((resolve) => {
      go = resolve;
    });
    const linked = linkSession(memory, session);
    const first = line(linked, { b: () => waits }).invoke(IN, T1);
    await expect.poll(() => session.machine).toEqual(["a", "b"]);
    await line(linked).invoke(null, T1);
    go();

    await expect(first).rejects.toMatchObject({ code: "GRAPH_CONFLICT" });
  });
});

describe("time travel", () => {
  test("moves the machine before the node runs, and reading moves nothing", async () => {
    const linked = linkSession(memory, session);
    const graph = line(linked);
    await graph.invoke(IN, T1);
    const config = await whereNext(graph, "b");
    await graph.getState(config);
    expect(session.machine).toEqual(["a", "b", "c"]);

    const seen: string[][] = [];
    await line(linked, { b: ({ machine }) => void seen.push([...machine]) }).invoke(null, config);
    expect(seen).toEqual([["a", "b"]]);
    expect(session.machine).toEqual(["a", "b", "c"]);
    expect((await pairs()).slice(-3)).toEqual([
      ...[
        ["ina", "a"],
        ["inab", "ab"],
        ["inabc", "abc"],
      ],
    ]);
  });

  test("goes on from an update of an earlier checkpoint with that one's machine", async () => {
    const graph = line(linkSession(memory, session));
    await graph.invoke(IN, T1);
    const fork = await graph.updateState(await whereNext(graph, "b"), { log: ["EDIT"] });
    expect(session.machine).toEqual(["a", "b", "c"]);
    expect((await pairs()).at(-1)).toEqual(["inaEDIT", "a"]);

    await expect(graph.invoke(null, fork)).resolves.toMatchObject({
      log: ["in", "a", "EDIT", ...["b", "c"]],
    });
    expect(session.machine).toEqual(["a", "b", "c"]);
  });

  test("of a copy has the machine of what was copied", async () => {
    const graph = line(linkSession(memory, session));
    await graph.invoke(IN, T1);
    await graph.updateState(await whereNext(graph, "c"), null, "__copy__");

    expect((await pairs()).at(-1)).toEqual(["inab", "ab"]);
  });

  test("with forks leaves the session where it was", async () => {
    const linked = linkSession(memory, session, { move: "fork", open: world.open });
    const graph = line(linked);
    await graph.invoke(IN, T1);
    await graph.invoke(null, await whereNext(graph, "b"));

    const fork = await linked.sessionOf(T1);
    expect(fork.id).toBe("s2");
    expect(fork.machine).toEqual(["a", "b", "c"]);
    expect(session.machine).toEqual(["a", "b", "c"]);
    expect(world.calls.some((call) => call.startsWith("restore"))).toBe(false);

    const again = linkSession(memory, session, { move: "fork", open: world.open });
    await line(again).invoke(IN, T1);
    expect(fork.machine).toEqual(["a", "b", "c", "a", "b", "c"]);
  });

  test("to a step whose machine was removed says so", async () => {
    const graph = line(linkSession(memory, session));
    await graph.invoke(IN, T1);
    const config = await whereNext(graph, "b");
    world.moments.delete("c3");
    await expect(graph.invoke(null, config)).rejects.toMatchObject({
      code: "GRAPH_MACHINE_GONE",
      hint: expect.stringContaining("history"),
    });
    expect(session.machine).toEqual(["a", "b", "c"]);

    const keeping = linkSession(memory, session, { onMissing: "keep" });
    await line(keeping).invoke(null, config);
    expect(session.machine).toEqual(["a", "b", "c", "b", "c"]);
  });

  test("can leave the agent's state", async () => {
    const graph = line(linkSession(memory, session, { only: "machine" }));
    await graph.invoke(IN, T1);
    session.values = { ...session.values, learned: 1 };
    await graph.invoke(null, await whereNext(graph, "b"));
    expect(session.values).toMatchObject({ learned: 1 });
  });
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
    return new StateGraph(State)
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
    for (const [done, machine] of await pairs()) expect(done.replace("in", "")).toBe(machine);
  });

  test("are not run again where nothing has changed on the machine", async () => {
    const runs: string[] = [];
    let tries = 0;
    const graph = new StateGraph(State)
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
    const graph = new StateGraph(State)
      .addNode("a", node(linked, "a"))
      .addNode("w", node(linked, "w"))
      .addEdge("__start__", "a")
      .addConditionalEdges("a", () => [new Send("w", { log: [] }), new Send("w", { log: [] })], [
        "w",
      ])
      .compile({ checkpointer: linked })
      .withConfig({ durability: "sync" });
    await graph.invoke(IN, T1);
    expect((await pairs()).at(-1)).toEqual(["inaww", "aww"]);
  });
});

describe("a subgraph", () => {
  function nested(linked: LinkedSaver<FakeSession>, works: Record<string, Work>) {
    const inner = new StateGraph(State)
      .addNode("x", node(linked, "x", works["x"]))
      .addNode("y", node(linked, "y", works["y"]))
      .addEdge("__start__", "x")
      .addEdge("x", "y")
      .compile();
    return new StateGraph(State)
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

  test("has the link of the graph's step", async () => {
    const graph = nested(linkSession(memory, session), {});
    await graph.invoke(IN, T1);
    const links = [];
    for await (const tuple of memory.list({ configurable: { thread_id: "t1" } })) {
      if (tuple.config.configurable?.["checkpoint_ns"] !== "") links.push(linkOf(tuple));
    }
    expect(links).toHaveLength(4);
    expect(links).toEqual(links.map(() => ({ session: "s1", checkpoint: "c3", taken: false })));
  });
});
