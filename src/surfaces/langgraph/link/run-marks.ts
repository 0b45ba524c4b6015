import type { RunnableConfig } from "@langchain/core/runnables";
import {
  type BaseCheckpointSaver,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  emptyCheckpoint,
  uuid6,
} from "@langchain/langgraph-checkpoint";
import { WaypointError } from "../../../shared/errors/index.ts";

/** Namespace of the one checkpoint of a thread that is no graph's: it names the run that began last. */
const MARKS_NAMESPACE = "__waypoint__";
const MARK_ID = "00000000-0000-6000-8000-000000000000";

/**
 * Which run of a thread has begun last. That is kept beside the thread's checkpoints, so each process
 * that goes on with the thread sees it.
 *
 * A run writes its mark before it reads where the thread is, and reads it after each capture, before it
 * puts the step: so what it puts is the machine of before any other run has begun.
 */
export class RunMarks {
  readonly #saver: BaseCheckpointSaver;

  constructor(saver: BaseCheckpointSaver) {
    this.#saver = saver;
  }

  /** Marks a thread as a new run's, and returns the mark. */
  async begin(thread: string): Promise<string> {
    const run = uuid6(0);
    const metadata = { source: "update", step: -1, parents: {}, waypoint: { run } } as const;
    const checkpoint = { ...emptyCheckpoint(), id: MARK_ID };
    await this.#saver.put(markOf(thread), checkpoint, metadata as CheckpointMetadata, {});
    return run;
  }

  /** Tells whether a run of a thread has begun, whatever became of it. */
  async isBegun(thread: string): Promise<boolean> {
    return (await this.#read(thread)) !== undefined;
  }

  /** Checks that no other run has begun since. @throws GRAPH_CONFLICT */
  async requireNewest(thread: string, run: string): Promise<void> {
    const newest = await this.#read(thread);
    if (newest !== run) throw overtaken(thread, newest === undefined);
  }

  async #read(thread: string): Promise<unknown> {
    const tuple = await this.#saver.getTuple(markOf(thread));
    const { waypoint } = { ...tuple?.metadata } as { waypoint?: { run?: unknown } | null };
    return waypoint?.run;
  }
}

/** Lists what graphs and their subgraphs keep, without the marks. */
export async function* listUnmarked(
  saver: BaseCheckpointSaver,
  config: RunnableConfig,
  { limit = Number.POSITIVE_INFINITY, ...options }: CheckpointListOptions = {},
): AsyncGenerator<CheckpointTuple> {
  const { thread_id: thread, checkpoint_ns: namespace } = config.configurable ?? {};
  const ofThread = thread === undefined ? Number.POSITIVE_INFINITY : 1;
  const asked = limit + (namespace === undefined ? ofThread : 0);
  const bounded = Number.isFinite(asked) ? { ...options, limit: asked } : options;
  let left = limit;
  for await (const tuple of saver.list(config, bounded)) {
    if (left <= 0) return;
    if (tuple.config.configurable?.["checkpoint_ns"] === MARKS_NAMESPACE) continue;
    yield tuple;
    left -= 1;
  }
}

/** Says that a run may put nothing more: its thread is another run's, or deleted. */
export function overtaken(thread: string, isDeleted = false): WaypointError {
  const message = isDeleted
    ? `Thread ${thread} was deleted while a run of it went on.`
    : `Another run of thread ${thread} has begun, and the machine is where that one is.`;
  return new WaypointError("GRAPH_CONFLICT", message, {
    hint: "Run one after the other; what this one has done on the machine is in its checkpoints.",
    detail: { thread },
  });
}

function markOf(thread: string) {
  return { configurable: { thread_id: thread, checkpoint_ns: MARKS_NAMESPACE } };
}
