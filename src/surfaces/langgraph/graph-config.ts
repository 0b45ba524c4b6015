import type { RunnableConfig } from "@langchain/core/runnables";
import { WaypointError } from "../../shared/errors/index.ts";

/** The place of a checkpoint, as a config of LangGraph's names it. */
export interface GraphPlace {
  thread: string;
  namespace: string;
  /** Undefined where the newest is meant. */
  id: string | undefined;
}

/**
 * Returns the place that a config names.
 *
 * @throws USAGE_INVALID  it has no thread_id, or one that is no text.
 */
export function placeOfConfig(config: RunnableConfig): GraphPlace {
  const { configurable } = config;
  const thread = textOf(configurable, "thread_id");
  if (thread === undefined || thread === "") {
    throw new WaypointError("USAGE_INVALID", "The config of the graph has no thread_id.", {
      hint: 'Pass { configurable: { thread_id: "..." } } with each call of the graph.',
    });
  }
  requireThreadName(thread);
  const id = textOf(configurable, "checkpoint_id") ?? textOf(configurable, "thread_ts");
  const namespace = textOf(configurable, "checkpoint_ns") ?? "";
  return { thread, namespace, id: id === "" ? undefined : id };
}

/**
 * Refuses names that no store can tell apart: what is no Unicode is kept as something else.
 *
 * @throws USAGE_INVALID
 */
export function requireThreadName(thread: string): void {
  if (thread.isWellFormed()) return;
  throw new WaypointError("USAGE_INVALID", "The thread_id is no text: it has half a character.", {
    hint: "Look where the thread_id was cut.",
  });
}

/** Returns the config of one checkpoint: these three keys, as the interface wants it. */
export function configOf(thread: string, namespace: string, id: string) {
  return { configurable: { thread_id: thread, checkpoint_ns: namespace, checkpoint_id: id } };
}

/**
 * Returns what a put or a write of this config has to survive: a run that goes on meanwhile, which is
 * LangGraph's default, promises nothing about a loss of power; whoever waits for it does.
 */
export function survivalOf(config: RunnableConfig): { survives?: "process" } {
  const { writer, durability } = config as RunnableConfig & Record<string, unknown>;
  const isRun = typeof writer === "function";
  const goesOn = durability === undefined || durability === "async";
  return isRun && goesOn ? { survives: "process" } : {};
}

/** Returns a text of the configurable part. @throws USAGE_INVALID  it is something else. */
export function textOf(
  configurable: Record<string, unknown> | undefined,
  key: string,
): string | undefined {
  const value = configurable?.[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  throw new WaypointError("USAGE_INVALID", `The ${key} of a graph's config has to be a text.`);
}
