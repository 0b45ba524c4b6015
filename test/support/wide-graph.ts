import {
  Annotation,
  Command,
  DeltaChannel,
  END,
  interrupt,
  Send,
  START,
  StateGraph,
  type StateSnapshot,
} from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

export type Durability = "sync" | "async" | "exit";

/** What the walk uses of a graph; the types of one with ten nodes are of no help here. */
interface WideGraph {
  invoke(input: unknown, config: object): Promise<Record<string, unknown>>;
  getState(config: object): Promise<StateSnapshot>;
  getStateHistory(config: object): AsyncIterableIterator<StateSnapshot>;
  updateState(config: object, values: object, asNode: string): Promise<object>;
}

export const WIDE_THREAD = { configurable: { thread_id: "wide" } };

/**
 * A graph with nodes side by side, a node that fails once, jobs that are sent, a subgraph that asks,
 * and a node that asks twice. Its lists are channels with a reducer, or such as are kept as writes.
 */
export function wideGraph(checkpointer: BaseCheckpointSaver, isDelta: boolean): WideGraph {
  const state = Annotation.Root({
    log: listChannel(isDelta, 3),
    other: listChannel(isDelta, 5),
    last: Annotation<string>,
  });
  const subgraph = new StateGraph(state)
    .addNode("first", async () => ({ log: ["first"], last: "first" }))
    .addNode("asks", async () => ({ log: [`asks:${interrupt("sub?")}`], other: ["asked"] }))
    .addEdge(START, "first")
    .addEdge("first", "asks")
    .addEdge("asks", END)
    .compile();
  let hasFailed = false;
  const failOnce = async () => {
    if (hasFailed) return { log: ["p2"] };
    hasFailed = true;
    throw new Error("once");
  };
  const retryPolicy = { maxAttempts: 3, initialInterval: 1, jitter: false, logWarning: false };
  // biome-ignore lint/suspicious/noExplicitAny: the nodes of a Send have a state of their own
  const jobs = (): any => [1, 2, 3].map((n) => new Send("job", { n }));
  const graph = new StateGraph(state)
    .addNode("a", async () => ({ log: ["a"], last: "a" }))
    .addNode("p1", async () => ({ log: ["p1"], other: ["p1"] }))
    .addNode("p2", failOnce, { retryPolicy })
    .addNode("fan", async () => ({ log: ["fan"] }))
    .addNode("job", async (job) => ({ log: [`job${(job as unknown as { n: number }).n}`] }))
    .addNode("sub", subgraph)
    .addNode("asks twice", async () => {
      return { log: [`asks:${interrupt("q1")}${interrupt("q2")}`], last: "asked" };
    })
    .addNode("end", async () => ({ log: ["end"], last: "end" }))
    .addEdge(START, "a")
    .addEdge("a", "p1")
    .addEdge("a", "p2")
    .addEdge(["p1", "p2"], "fan")
    .addConditionalEdges("fan", jobs, ["job"])
    .addEdge("job", "sub")
    .addEdge("sub", "asks twice")
    .addEdge("asks twice", "end")
    .addEdge("end", END)
    .compile({ checkpointer });
  return graph as unknown as WideGraph;
}

function listChannel(isDelta: boolean, snapshotFrequency: number) {
  const appendAll = (all: string[], more: string[][]) => [...all, ...more.flat()];
  const append = (all: string[], more: string[]) => [...all, ...more];
  const channel = isDelta
    ? () => new DeltaChannel<string[], string[]>(appendAll, { snapshotFrequency })
    : Annotation<string[]>({ reducer: append, default: () => [] });
  return channel as ReturnType<typeof Annotation<string[]>>;
}

/** A graph that adds to two lists with each step; both are kept as their writes. */
export function twoLists(checkpointer: BaseCheckpointSaver, steps: number): WideGraph {
  const state = Annotation.Root({ log: listChannel(true, 3), other: listChannel(true, 5) });
  const graph = new StateGraph(state)
    .addNode("step", async ({ log }) => ({ log: [`${log.length}`], other: [`${log.length}`] }))
    .addEdge(START, "step")
    .addConditionalEdges("step", ({ log }) => (log.length < steps ? "step" : END))
    .compile({ checkpointer });
  return graph as unknown as WideGraph;
}

/** Returns what a snapshot says, without ids; what ran side by side is sorted. */
export function said({ values, next, metadata, tasks }: StateSnapshot) {
  const lists = Object.entries(values as Record<string, unknown>).map(([name, value]) => {
    return [name, Array.isArray(value) ? value.toSorted() : value];
  });
  return {
    ...{ values: Object.fromEntries(lists), next: next.toSorted() },
    ...{ source: metadata?.source, step: metadata?.step },
    asked: tasks.flatMap(({ interrupts }) => interrupts.map(({ value }) => value)),
  };
}

/** Runs the graph through interrupts, edits, forks and new input; returns its histories after each. */
export async function walkWideGraph(
  saver: BaseCheckpointSaver,
  { isDelta, durability }: { isDelta: boolean; durability: Durability },
) {
  const graph = wideGraph(saver, isDelta);
  const config = { ...WIDE_THREAD, durability };
  const histories: ReturnType<typeof said>[][] = [];
  const note = async () => {
    const history: StateSnapshot[] = [];
    for await (const each of graph.getStateHistory(WIDE_THREAD)) history.push(each);
    histories.push(history.map(said));
    return history;
  };
  const run = async (input: unknown, at: object = config) => {
    await graph.invoke(input, { ...at, durability });
    return await note();
  };
  await run({ log: ["in"], other: ["in"] });
  await run(new Command({ resume: "R" }));
  await run(new Command({ resume: "Q1" }));
  await graph.updateState(config, { log: ["edit"] }, "sub");
  await run(null);
  await run(new Command({ resume: "Q1" }));
  const all = await run(new Command({ resume: "Q2" }));
  const point = all.find(({ next }) => next.includes("fan"));
  if (point !== undefined) {
    await run(null, point.config);
    await graph.updateState(point.config, { log: ["fork"], last: "fork" }, "p1");
    await note();
    await run(null);
  }
  await run({ log: ["again"] });
  return { graph, histories };
}
