import { existsSync } from "node:fs";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import type { LinkableSession, LinkedSaver, LinkPolicy } from "../../src/langgraph.ts";
import { doneOn, doOnMachine, LOG_PATH, linkedLine } from "../support/linked-line.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const T1 = { configurable: { thread_id: "t1" } };
const IN = { log: [] };
const ALL = { files: "a b c", shell: "a b c" };

let own: TestWaypoint;
let session: Session;
let memory: MemorySaver;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

beforeEach(async () => {
  session = await own.waypoint.new({ net: "none", env: { HOME: "/nonexistent" } });
  memory = new MemorySaver();
  return async () => await session.remove({ force: true });
});

type Graph = ReturnType<typeof linkedLine>["graph"];

async function placeOf(graph: Graph, next: string) {
  for await (const { next: nodes, config } of graph.getStateHistory(T1)) {
    if (nodes[0] === next) return config;
  }
  throw new Error(`no checkpoint before ${next}`);
}

test("the SDK's session is one that can be linked", () => {
  const linkable: LinkableSession = session;
  expect(linkable.id).toBe(session.id);
});

describe("a graph", () => {
  test.each<[LinkPolicy, number]>([
    ["every-step", 5],
    ["tools", 1],
    ["changed", 4],
  ])("with policy %s has %i checkpoints of the machine", async (policy, count) => {
    const { linked, graph } = linkedLine(memory, session, { policy });
    await graph.invoke(IN, T1);
    const links = await linksOf(linked);

    expect(new Set(links).size).toBe(count);
    if (policy !== "tools") expect(await logOf(links[0])).toBe("a\nb\nc\n");
  });

  test("that goes back two steps takes files and processes along, and finishes", async () => {
    const seen: unknown[] = [];
    const works = { b: async (it: Session) => seen.push(await doneOn(it)) };
    const { graph } = linkedLine(memory, session, { works });
    await graph.invoke(IN, T1);
    const config = await placeOf(graph, "b");
    await graph.getState(config);
    expect(await doneOn(session)).toEqual(ALL);

    const result = await graph.invoke(null, config);
    expect(result).toEqual({ log: ["a", "b", "c"] });
    expect(seen[1]).toEqual({ files: "a b", shell: "a b" });
    expect(await doneOn(session)).toEqual(ALL);
  });

  test("that is changed at an earlier step goes on with the machine of then", async () => {
    const { graph } = linkedLine(memory, session);
    await graph.invoke(IN, T1);
    const fork = await graph.updateState(await placeOf(graph, "c"), { log: ["EDIT"] });
    await doOnMachine(session, "later");
    const result = await graph.invoke(null, fork);

    expect(result).toEqual({ log: ["a", "b", "EDIT", "c"] });
    expect(await doneOn(session)).toEqual(ALL);
  });

  test("can go back in a fork, and leave the session as it is", async () => {
    const open = (id: string) => own.waypoint.session(id);
    const { linked, graph } = linkedLine(memory, session, { move: "fork", open });
    await graph.invoke(IN, T1);
    await doOnMachine(session, "by-hand");
    await graph.invoke(null, await placeOf(graph, "b"));
    const again = linkedLine(memory, session, { move: "fork", open });
    const fork = await again.linked.sessionOf(T1);

    expect(fork.id).toBe((await linked.sessionOf(T1)).id);
    expect(fork.id).not.toBe(session.id);
    expect(await doneOn(fork)).toEqual(ALL);
    expect((await doneOn(session)).files).toBe("a b c by-hand");
    await again.graph.invoke(IN, T1);
    expect((await doneOn(fork)).files).toBe("a b c a b c");
    await fork.remove({ force: true });
  });

  test("that was interrupted is resumed with the machine as it was", async () => {
    const works = { b: async (it: Session) => doOnMachine(it, `${interrupt("sure?")}`) };
    const first = linkedLine(memory, session, { works });
    await first.graph.invoke(IN, T1);
    await session.exec(`rm ${LOG_PATH}; DONE=lost`);
    const { graph } = linkedLine(memory, session, { works });
    await graph.invoke(new Command({ resume: "yes" }), T1);

    // b runs again from its top.
    expect(await doneOn(session)).toEqual({ files: "a b b yes c", shell: "a b b yes c" });
  });

  test("goes on after its session has ended", async () => {
    const { graph } = linkedLine(memory, session);
    await graph.invoke(IN, T1);
    await session.stop();
    await graph.invoke(null, await placeOf(graph, "c"));
    expect(await doneOn(session)).toEqual(ALL);
  });

  test("of which a node fails does it again on the machine of before", async () => {
    let tries = 0;
    const fail = () => {
      tries += 1;
      if (tries === 1) throw new Error("wrong");
    };
    const { graph } = linkedLine(memory, session, { works: { b: fail } });
    await expect(graph.invoke(IN, T1)).rejects.toThrow("wrong");
    await graph.invoke(null, T1);
    expect(await doneOn(session)).toEqual(ALL);
  });

  test("says that the machine of a step was removed", async () => {
    const { linked, graph } = linkedLine(memory, session);
    await graph.invoke(IN, T1);
    const config = await placeOf(graph, "b");
    const tuple = await linked.getTuple(config);
    const { waypoint } = { ...tuple?.metadata } as { waypoint?: { checkpoint: string } };
    await own.waypoint.removeCheckpoints([waypoint?.checkpoint ?? ""], { force: true });

    await expect(graph.invoke(null, config)).rejects.toMatchObject({ code: "GRAPH_MACHINE_GONE" });
    expect(await doneOn(session)).toEqual(ALL);
  });

  test("is refused on a session of another thread, or gets a fork", async () => {
    const { graph } = linkedLine(memory, session);
    await graph.invoke(IN, T1);
    const t2 = { configurable: { thread_id: "t2" } };
    await expect(graph.invoke(IN, t2)).rejects.toMatchObject({ code: "GRAPH_CONFLICT" });
    expect(await doneOn(session)).toEqual(ALL);

    const open = (id: string) => own.waypoint.session(id);
    const forking = linkedLine(memory, session, { onConflict: "fork", open });
    await forking.graph.invoke(IN, t2);
    const fork = await forking.linked.sessionOf(t2);
    expect((await doneOn(fork)).files).toBe("a b c a b c");
    expect(await doneOn(session)).toEqual(ALL);
    await fork.remove({ force: true });
  });

  test("whose session is restored by hand meanwhile ends, and goes on from its last step", async () => {
    let isMoved = false;
    const restore = async (it: Session) => {
      if (isMoved) return;
      isMoved = true;
      const [first] = (await it.log()).checkpoints;
      await it.restore(first?.id ?? "");
    };
    const { graph } = linkedLine(memory, session, { works: { b: restore } });
    await expect(graph.invoke(IN, T1)).rejects.toMatchObject({ code: "GRAPH_MACHINE_MOVED" });
    await graph.invoke(null, T1);
    expect(await doneOn(session)).toEqual(ALL);
  });

  test("whose daemon is killed at the end of a step can be run again", async () => {
    const killed: number[] = [];
    const kill = async () => {
      if (killed.length > 0) return;
      killed.push(await own.daemonPid());
      process.kill(killed[0] ?? 0, "SIGKILL");
    };
    const { graph } = linkedLine(memory, session, { works: { b: kill } });
    // Whether the capture is the first to find no daemon is a matter of moments.
    await graph.invoke(IN, T1).catch((error: unknown) => {
      expect(error).toMatchObject({ code: "DAEMON_UNREACHABLE" });
    });
    // A daemon that is about to end still takes connections.
    await eventually(
      "its end",
      () => existsSync(`/proc/${killed[0]}`),
      (isThere) => !isThere,
    );
    await graph.invoke(null, T1);
    expect(await own.daemonPid()).not.toBe(killed[0]);
    expect(await doneOn(session)).toEqual(ALL);
  });

  test("whose session was removed says that its machine is gone", async () => {
    const gone = await own.waypoint.new({ net: "none" });
    const { graph } = linkedLine(memory, gone);
    await graph.invoke(IN, T1);
    await gone.remove({ force: true });
    await expect(graph.invoke(null, await placeOf(graph, "b"))).rejects.toMatchObject({
      code: "GRAPH_MACHINE_GONE",
    });
  });

  test("whose session was renamed goes on", async () => {
    const { graph } = linkedLine(memory, session);
    await graph.invoke(IN, T1);
    await session.rename("another-name");
    await graph.invoke(null, await placeOf(graph, "c"));
    expect(await doneOn(session)).toEqual(ALL);
  });

  test("tells what each step changed on the machine", async () => {
    const works = { c: (it: Session) => it.exec("echo new > /srv/by-c") };
    const { linked, graph } = linkedLine(memory, session, { works });
    await graph.invoke(IN, T1);
    const steps = [];
    for await (const { tuple, summary } of linked.history(T1)) {
      steps.push([tuple.metadata?.step, summary]);
    }
    expect(steps[0]).toEqual([3, expect.stringContaining("/srv/by-c")]);
    expect(steps[2]).toEqual([1, expect.stringContaining("/srv/log")]);
    expect(steps).toHaveLength(5);
  });
});

async function linksOf(linked: LinkedSaver<Session>): Promise<string[]> {
  const found: string[] = [];
  for await (const { link } of linked.history(T1)) found.push(link?.checkpoint ?? "none");
  return found;
}

async function logOf(checkpoint = ""): Promise<string> {
  const pieces = [];
  for await (const piece of own.waypoint.cat(checkpoint, LOG_PATH)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}
