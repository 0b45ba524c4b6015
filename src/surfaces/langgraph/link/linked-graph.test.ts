import { MemorySaver } from "@langchain/langgraph";
import { beforeEach, describe, expect, test } from "vitest";
import type { FakeSession, FakeWorld } from "../../../../test/support/fake-linkable-session.ts";
import { IN, LinkedWorld, line, T1, whereNext } from "../../../../test/support/linked-graph.ts";
import { linkSession } from "./link-session.ts";

let own: LinkedWorld;
let world: FakeWorld;
let session: FakeSession;
let memory: MemorySaver;

beforeEach(() => {
  own = new LinkedWorld();
  ({ world, session, memory } = own);
});

describe("a run", () => {
  test("has at each step the machine of its end", async () => {
    const graph = line(linkSession(memory, session));
    await graph.invoke(IN, T1);

    expect(await own.pairs()).toEqual([
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
      const isOfGraph = args[0].configurable?.["checkpoint_ns"] === "";
      if (isOfGraph) puts += 1;
      if (isOfGraph && puts === 4) throw new Error("no connection");
      return await put(...args);
    };
    await expect(graph.invoke(IN, T1)).rejects.toThrow("no connection");
    expect((await own.pairs()).at(-1)).toEqual(["ina", "a"]);

    await graph.invoke(null, T1);
    expect(session.machine).toEqual(["a", "b", "c"]);
    expect((await own.pairs()).at(-1)).toEqual(["inabc", "abc"]);
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
    own.memory = old;
    session.do("by hand");
    await line(linkSession(memory, session)).invoke(IN, T1);

    expect((await own.pairs()).at(-1)?.[1]).toBe("abcby handabc");
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
    expect((await own.pairs()).slice(-3)).toEqual([
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
    expect((await own.pairs()).at(-1)).toEqual(["inaEDIT", "a"]);

    await expect(graph.invoke(null, fork)).resolves.toMatchObject({
      log: ["in", "a", "EDIT", ...["b", "c"]],
    });
    expect(session.machine).toEqual(["a", "b", "c"]);
  });

  test("of a copy has the machine of what was copied", async () => {
    const graph = line(linkSession(memory, session));
    await graph.invoke(IN, T1);
    await graph.updateState(await whereNext(graph, "c"), null, "__copy__");

    expect((await own.pairs()).at(-1)).toEqual(["inab", "ab"]);
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
