import { ToolMessage } from "@langchain/core/messages";
import { Annotation, MemorySaver, StateGraph } from "@langchain/langgraph";
import { beforeEach, describe, expect, test } from "vitest";
import { type FakeSession, FakeWorld } from "../../../../test/support/fake-linkable-session.ts";
import type { LinkOptions } from "./link-options.ts";
import { linkSession } from "./link-session.ts";
import type { LinkedSaver } from "./linked-saver.ts";

const State = Annotation.Root({
  log: Annotation<unknown[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});
const IN = { log: ["in"] };

let world: FakeWorld;
let session: FakeSession;
let memory: MemorySaver;

beforeEach(() => {
  world = new FakeWorld();
  session = world.new();
  memory = new MemorySaver();
});

/** A model that changes nothing, tools that do, and a node that does without being a tool. */
function agent(linked: LinkedSaver<FakeSession>, toolNode = "shell") {
  const answer = new ToolMessage({ content: "done", tool_call_id: "1" });
  return new StateGraph(State)
    .addNode("model", () => ({ log: ["call"] }))
    .addNode(toolNode, async (_, config) => {
      (await linked.sessionOf(config)).do("tool");
      return { log: [toolNode === "shell" ? answer : "answer"] };
    })
    .addNode("think", () => ({ log: ["thought"] }))
    .addEdge("__start__", "model")
    .addEdge("model", toolNode)
    .addEdge(toolNode, "think")
    .addEdge("think", "__end__")
    .compile({ checkpointer: linked })
    .withConfig({ durability: "sync" });
}

function on(thread: string) {
  return { configurable: { thread_id: thread } };
}

/** Returns which checkpoint of the machine each step has, oldest first; those taken there are marked. */
async function links(linked: LinkedSaver<FakeSession>): Promise<string[]> {
  const found: string[] = [];
  for await (const { link } of linked.history(on("t1"))) {
    found.push(`${link?.checkpoint}${link?.taken ? "*" : ""}`);
  }
  return found.reverse();
}

describe("the policy", () => {
  test.each<[LinkOptions["policy"], string[]]>([
    ["every-step", ["c1*", "c2*", "c3*", "c4*", "c5*"]],
    ["tools", ["c1*", "c1", "c1", "c2*", "c2"]],
    ["changed", ["c1*", "c1", "c1", "c2*", "c2"]],
  ])("%s", async (policy = "every-step", expected) => {
    const linked = linkSession(memory, session, { policy });
    await agent(linked).invoke(IN, on("t1"));
    expect(await links(linked)).toEqual(expected);
  });

  test("tools knows what a tool has answered before that is kept", async () => {
    const putWrites = memory.putWrites.bind(memory);
    memory.putWrites = async (...args) => {
      await new Promise((resolve) => setImmediate(resolve));
      await putWrites(...args);
    };
    const linked = linkSession(memory, session, { policy: "tools" });
    await agent(linked).invoke(IN, on("t1"));
    expect(await links(linked)).toEqual(["c1*", "c1", "c1", "c2*", "c2"]);
  });

  test("tools knows nodes by their names, too", async () => {
    const linked = linkSession(memory, session, { policy: "tools", toolNodes: ["work"] });
    await agent(linked, "work").invoke(IN, on("t1"));
    expect(await links(linked)).toEqual(["c1*", "c1", "c1", "c2*", "c2"]);
    await agent(linked, "work").invoke(IN, on("t1"));
    expect((await links(linked)).at(-1)).toBe("c3");
  });

  test("changed sees what no tool has done", async () => {
    const linked = linkSession(memory, session, { policy: "changed" });
    await agent(linked).invoke(IN, on("t1"));
    session.do("by hand");
    await agent(linked).invoke(IN, on("t1"));
    // What was done by hand is kept as a checkpoint, and the thread goes on without it.
    expect(session.machine).toEqual(["tool", "tool"]);
    expect([...world.moments.values()].map(({ machine }) => machine)).toContainEqual([
      ...["tool", "by hand"],
    ]);
  });
});

describe("a session", () => {
  test("is one thread's machine, and another thread is refused before it runs", async () => {
    const linked = linkSession(memory, session);
    await agent(linked).invoke(IN, on("t1"));
    await expect(agent(linked).invoke(IN, on("t2"))).rejects.toMatchObject({
      ...{ code: "GRAPH_CONFLICT", detail: { thread: "t2", holder: "t1" } },
    });
    await expect(agent(linkSession(memory, session)).invoke(IN, on("t2"))).rejects.toMatchObject({
      code: "GRAPH_CONFLICT",
    });
    expect(session.machine).toEqual(["tool"]);
  });

  test("is free again when its thread is deleted, here or behind our back", async () => {
    const linked = linkSession(memory, session);
    await agent(linked).invoke(IN, on("t1"));
    await linked.deleteThread("t1");
    await agent(linked).invoke(IN, on("t2"));
    await memory.deleteThread("t2");
    await agent(linkSession(memory, session)).invoke(IN, on("t3"));
    expect(session.machine).toEqual(["tool", "tool", "tool"]);
  });

  test("that was forked by hand is another one's", async () => {
    const linked = linkSession(memory, session);
    await agent(linked).invoke(IN, on("t1"));
    const [fork] = await session.fork("c5");
    if (fork === undefined) throw new Error("no fork");
    await agent(linkSession(memory, fork)).invoke(IN, on("t2"));
    expect(fork.machine).toEqual(["tool", "tool"]);
  });

  test("is forked for another thread if that was chosen, and found again later", async () => {
    const options = { onConflict: "fork", open: world.open } as const;
    const linked = linkSession(memory, session, options);
    await Promise.all([agent(linked).invoke(IN, on("t1")), agent(linked).invoke(IN, on("t2"))]);
    const again = linkSession(memory, session, options);
    await agent(again).invoke(IN, on("t2"));

    expect((await again.sessionOf(on("t1"))).id).toBe("s1");
    expect((await again.sessionOf(on("t2"))).id).toBe("s2");
    expect(session.machine).toEqual(["tool"]);
    expect((await world.open("s2")).machine).toEqual(["tool", "tool"]);
  });

  test("is forked once for a thread that was prepared before it ran", async () => {
    const linked = linkSession(memory, session, { onConflict: "fork", open: world.open });
    await agent(linked).invoke(IN, on("t1"));
    await linked.prepare(on("t2"));
    await agent(linked).invoke(IN, on("t2"));
    expect([...world.sessions.keys()]).toEqual(["s1", "s2"]);
  });

  test("that is gone is told", async () => {
    const options = { onConflict: "fork", open: world.open } as const;
    const linked = linkSession(memory, session, options);
    await agent(linked).invoke(IN, on("t1"));
    await agent(linked).invoke(IN, on("t2"));
    world.sessions.delete("s2");
    const again = linkSession(memory, session, options);
    await expect(agent(again).invoke(IN, on("t2"))).rejects.toMatchObject({
      code: "GRAPH_MACHINE_GONE",
    });
  });
});

test("history tells what each step changed, and which can no longer be gone back to", async () => {
  const linked = linkSession(memory, session, { policy: "changed" });
  await agent(linked).invoke(IN, on("t1"));
  world.moments.delete("c1");
  const steps = [];
  for await (const { tuple, summary, story, isGone } of linked.history(on("t1"))) {
    steps.push([tuple.metadata?.step, summary, story === null, isGone]);
  }

  expect(steps).toEqual([
    [3, null, true, false],
    [2, "+ tool", false, false],
    [1, null, true, true],
    [0, null, true, true],
    [-1, null, true, true],
  ]);
});

test("prepare moves the machine for who looks at it before the graph runs", async () => {
  const linked = linkSession(memory, session);
  const graph = agent(linked);
  await graph.invoke(IN, on("t1"));
  for await (const { config, next } of graph.getStateHistory(on("t1"))) {
    if (next[0] === "shell") await linked.prepare(config);
  }
  expect(session.machine).toEqual([]);
});

test("an update over the work of a failed step has the machine with that work", async () => {
  const linked = linkSession(memory, session);
  const graph = new StateGraph(State)
    .addNode("good", () => {
      session.do("good");
      return { log: ["good"] };
    })
    .addNode("bad", async () => {
      await expect
        .poll(async () => (await memory.getTuple(on("t1")))?.pendingWrites?.length)
        .toBeGreaterThan(0);
      throw new Error("wrong");
    })
    .addNode("end", () => ({ log: ["end"] }))
    .addEdge("__start__", "good")
    .addEdge("__start__", "bad")
    .addEdge(["good", "bad"], "end")
    .compile({ checkpointer: linked })
    .withConfig({ durability: "sync" });
  await expect(graph.invoke(IN, on("t1"))).rejects.toThrow("wrong");
  await graph.updateState(on("t1"), { log: ["instead"] }, "bad");
  const result = await graph.invoke(null, on("t1"));

  expect(result).toMatchObject({ log: ["in", "good", "instead", "end"] });
  expect(session.machine).toEqual(["good"]);
});

test("what is no choice, or cannot be kept, is refused", () => {
  expect(() => linkSession(memory, session, { policy: "often" as never })).toThrow(
    expect.objectContaining({ code: "USAGE_INVALID" }),
  );
  expect(() => linkSession(memory, session, { move: "fork" })).toThrow(
    expect.objectContaining({ code: "USAGE_INVALID", hint: expect.stringContaining("open") }),
  );
});

test("a run without a thread is refused", async () => {
  await expect(
    agent(linkSession(memory, session)).invoke(IN, { configurable: {} }),
  ).rejects.toMatchObject({ code: "USAGE_INVALID" });
});

test("a link that somebody has spoiled counts as none", async () => {
  const linked = linkSession(memory, session);
  await agent(linked).invoke(IN, on("t1"));
  const tuple = await memory.getTuple(on("t1"));
  if (tuple === undefined) throw new Error("no checkpoint");
  const spoiled = { ...tuple.metadata, waypoint: { session: 7, checkpoint: "x".repeat(1000) } };
  await memory.put(tuple.parentConfig ?? {}, tuple.checkpoint, spoiled as never);
  session.do("by hand");
  await agent(linked).invoke(IN, on("t1"));
  expect(session.machine).toEqual(["tool", "by hand", "tool"]);
});
