import type { RunnableConfig } from "@langchain/core/runnables";
import { WaypointError } from "../../../shared/errors/index.ts";

/** What a run's own config has beside what its caller gave. */
interface RunConfig extends RunnableConfig {
  writer?: unknown;
  interrupt?: unknown;
  durability?: unknown;
  checkpointDuring?: unknown;
}

/**
 * Returns what stands for one run of a graph; undefined for a call that is none, such as `getState` or
 * `updateState`, and for what runs inside a node.
 *
 * A run gives its config two functions of its own before it asks the saver for the checkpoint that it
 * begins at; its nodes' configs can read the state besides.
 */
export function runOf(config: RunnableConfig): unknown {
  const { writer, interrupt, configurable } = config as RunConfig;
  if (typeof writer !== "function" || typeof interrupt !== "function") return undefined;
  if (configurable?.["__pregel_read"] !== undefined) return undefined;
  return namespaceOf(config) === "" ? writer : undefined;
}

/** Returns what stands for the run in which a node runs; undefined outside of nodes. */
export function nodeRunOf(config: RunnableConfig): unknown {
  const { writer, configurable } = config as RunConfig;
  return configurable?.["__pregel_read"] === undefined ? undefined : writer;
}

/** Returns the saver that keeps the checkpoints of the graph in whose node something runs. */
export function keeperOf({ configurable }: RunnableConfig): unknown {
  return configurable?.["__pregel_checkpointer"];
}

/** Says that a run would go on without the machine of its steps, and nobody would notice. */
export function nestedElsewhere(): WaypointError {
  return new WaypointError(
    "USAGE_INVALID",
    "A linked graph runs inside a node of a graph that is not linked, or in another thread than it.",
    {
      hint: "Compile the outermost graph with the linked saver, and name no other thread inside.",
    },
  );
}

/** Returns the thread of a config. @throws USAGE_INVALID  it names none. */
export function threadOf({ configurable }: RunnableConfig): string {
  const thread: unknown = configurable?.["thread_id"];
  if (typeof thread === "string" && thread !== "") return thread;
  throw new WaypointError("USAGE_INVALID", "The config names no thread.", {
    hint: 'Give { configurable: { thread_id: "…" } } to the graph.',
  });
}

/** Returns the namespace of a config: empty for the graph itself, else that of a subgraph. */
export function namespaceOf({ configurable }: RunnableConfig): string {
  return (configurable?.["checkpoint_ns"] as string | undefined) ?? "";
}

/** Returns the checkpoint that a config names. */
export function checkpointIdOf({ configurable }: RunnableConfig): string | undefined {
  return (configurable?.["checkpoint_id"] as string | undefined) || undefined;
}

/** Returns a config of the graph itself that names a thread, and a checkpoint of it. */
export function configOf(thread: string, checkpointId?: string): RunnableConfig {
  const of = checkpointId === undefined ? {} : { checkpoint_id: checkpointId };
  return { configurable: { thread_id: thread, checkpoint_ns: "", ...of } };
}

/**
 * Checks that a run waits for its checkpoints: only then does no node run while the machine of a step
 * is captured.
 *
 * @throws GRAPH_NOT_SYNC
 */
export function requireSync(config: RunnableConfig): void {
  const { durability, checkpointDuring, configurable } = config as RunConfig;
  const during =
    checkpointDuring == null ? undefined : checkpointDuring === false ? "exit" : "async";
  const found = durability ?? during ?? configurable?.["__pregel_durability"] ?? "async";
  if (found === "sync") return;
  throw new WaypointError(
    "GRAPH_NOT_SYNC",
    `The graph runs with durability "${found}": its next step would change the machine while this one's is captured.`,
    {
      hint: 'Run it with { durability: "sync" }, or once for all: graph.withConfig({ durability: "sync" }).',
      detail: { durability: String(found) },
    },
  );
}
