import {
  Annotation,
  DeltaChannel,
  END,
  START,
  StateGraph,
  type StateSnapshot,
} from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

/** What forks of one checkpoint have in their log, and its first line after them. */
export interface Forked {
  /** As an update by hand left it, and as the graph ended it. */
  forks: { updated: string[]; ended: string[] }[];
  /** The line that the forks came from. */
  origin: string[];
}

const THREAD = { configurable: { thread_id: "forked" } };

/** A graph that goes from a to b, each of which adds its name to the log. */
function twoSteps(saver: BaseCheckpointSaver, isDelta: boolean) {
  const append = (log: string[], more: string[]) => [...log, ...more];
  const appendAll = (log: string[], more: string[][]) => [...log, ...more.flat()];
  const log = isDelta
    ? () => new DeltaChannel<string[], string[]>(appendAll, { snapshotFrequency: 1000 })
    : Annotation<string[]>({ reducer: append, default: () => [] });
  const state = Annotation.Root({ log: log as ReturnType<typeof Annotation<string[]>> });
  return new StateGraph(state)
    .addNode("a", async () => ({ log: ["a"] }))
    .addNode("b", async () => ({ log: ["b"] }))
    .addEdge(START, "a")
    .addEdge("a", "b")
    .addEdge("b", END)
    .compile({ checkpointer: saver });
}

/** Runs the graph, and forks it with each edit from where `b` is next. */
export async function forkBefore(
  saver: BaseCheckpointSaver,
  edits: readonly string[],
  { isDelta }: { isDelta: boolean },
): Promise<Forked> {
  const graph = twoSteps(saver, isDelta);
  await graph.invoke({ log: ["in"] }, { ...THREAD, durability: "sync" });
  const head = await graph.getState(THREAD);
  const point = await pointBefore(graph, "b");
  const updates = [];
  for (const edit of edits) updates.push(await graph.updateState(point.config, { log: [edit] }));
  const logOf = async (config: object) => (await graph.getState(config)).values["log"] as string[];
  const forks: Forked["forks"] = [];
  for (const update of updates) {
    const updated = await logOf(update);
    const ended = await graph.invoke(null, { ...update, durability: "sync" });
    forks.push({ updated, ended: ended.log });
  }
  return { forks, origin: await logOf(head.config) };
}

async function pointBefore(
  graph: { getStateHistory(config: object): AsyncIterableIterator<StateSnapshot> },
  node: string,
): Promise<StateSnapshot> {
  for await (const snapshot of graph.getStateHistory(THREAD)) {
    if (snapshot.next.includes(node)) return snapshot;
  }
  throw new Error(`no checkpoint before ${node}`);
}

/** Runs a chain of six nodes, and returns how many checkpoints there are in the end. */
export async function runChain(
  saver: BaseCheckpointSaver,
  durability: "sync" | "async",
): Promise<{ checkpoints: number; error: unknown }> {
  const names = ["n1", "n2", "n3", "n4", "n5", "n6"];
  const state = Annotation.Root({ count: Annotation<number> });
  // The graph's types know the names of its nodes; these are made in a loop.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  const graph: any = new StateGraph(state);
  for (const name of names) {
    graph.addNode(name, async ({ count }: { count: number }) => ({ count: count + 1 }));
  }
  for (const [index, name] of names.entries()) graph.addEdge(names[index - 1] ?? START, name);
  graph.addEdge("n6", END);
  const compiled = graph.compile({ checkpointer: saver });
  const error = await compiled.invoke({ count: 0 }, { ...THREAD, durability }).then(
    () => null,
    (reason: unknown) => reason,
  );
  let checkpoints = 0;
  for await (const _ of saver.list(THREAD)) checkpoints += 1;
  return { checkpoints, error };
}
