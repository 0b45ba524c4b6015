import {
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  uuid6,
} from "@langchain/langgraph-checkpoint";

/** Key in the metadata of a graph checkpoint under which its link is. */
const METADATA_KEY = "waypoint";
/** Channel of pending writes that tell how a step was left. No graph has a channel of that name. */
const REST_CHANNEL = "__waypoint__";
const REST_TASK = "waypoint-";
const ID_LENGTH_MAX = 200;
/** Writes of these say how a task ended, and are not what it has done. */
const ENDINGS = new Set([
  ...["__error__", "__error_source_node__", "__interrupt__", "__resume__", "__scheduled__"],
  REST_CHANNEL,
]);
/** Task under which a run's input and commands are written: they are no work of a node. */
const INPUT_TASK = "00000000-0000-0000-0000-000000000000";

/** The machine of a graph checkpoint. */
export interface Link {
  /** Id of the session. */
  session: string;
  /** Id of its checkpoint. */
  checkpoint: string;
  /** The checkpoint was taken at this step; else it is that of an earlier one. */
  taken: boolean;
}

/** How a step was left that did not come to its end: the machine of then, and whose work it has. */
export interface Rest extends Link {
  /** Tasks that were over. */
  tasks: string[];
  /** Sorts among the ids of checkpoints by time. */
  at: string;
}

/** Returns the metadata of a graph checkpoint with its link. */
export function withLink(metadata: CheckpointMetadata, link: Link | undefined): CheckpointMetadata {
  return link === undefined ? metadata : Object.assign({ ...metadata }, { [METADATA_KEY]: link });
}

/** Returns the link of a graph checkpoint; undefined where it has none that can be read. */
export function linkOf(tuple: CheckpointTuple | undefined): Link | undefined {
  return readLink((tuple?.metadata as Record<string, unknown> | undefined)?.[METADATA_KEY]);
}

/** Returns a link as a step has it at which no checkpoint of the machine was taken. */
export function earlier({ session, checkpoint }: Link): Link {
  return { session, checkpoint, taken: false };
}

/** Returns the pending writes that keep how a step was left, and the task that they are of. */
export function restWrites(
  link: Link,
  tasks: readonly string[],
): { task: string; writes: [string, unknown][] } {
  const value = { ...link, tasks: [...tasks] };
  return { task: `${REST_TASK}${uuid6(0)}`, writes: [[REST_CHANNEL, value]] };
}

/** Returns the pending writes that tell that a subgraph of the step keeps checkpoints of its own. */
export function nestedWrites(): { task: string; writes: [string, unknown][] } {
  return { task: `${REST_TASK}${uuid6(0)}`, writes: [[REST_CHANNEL, { isNested: true }]] };
}

/** Tells whether a subgraph has gone on since a step was left, or at all. */
export function hasNested(tuple: CheckpointTuple, rest: Rest | undefined): boolean {
  return (tuple.pendingWrites ?? []).some(([task, channel, value]) => {
    if (channel !== REST_CHANNEL || !task.startsWith(REST_TASK)) return false;
    if ((value as { isNested?: unknown } | null)?.isNested !== true) return false;
    return task.slice(REST_TASK.length) > (rest?.at ?? "");
  });
}

/** Returns how a step was left the last time; undefined where nobody has noted it. */
export function restOf(tuple: CheckpointTuple): Rest | undefined {
  let newest: Rest | undefined;
  for (const [task, channel, value] of tuple.pendingWrites ?? []) {
    if (channel !== REST_CHANNEL || !task.startsWith(REST_TASK)) continue;
    const link = readLink(value);
    const { tasks } = value as { tasks?: unknown };
    const at = task.slice(REST_TASK.length);
    if (link === undefined || !Array.isArray(tasks) || (newest?.at ?? "") >= at) continue;
    newest = { ...link, at, tasks: tasks.map(String) };
  }
  return newest;
}

/** Returns the tasks of a step that have done their work already. */
export function doneTasks(tuple: CheckpointTuple): string[] {
  const done = (tuple.pendingWrites ?? [])
    .filter(([task, channel]) => task !== INPUT_TASK && !ENDINGS.has(channel))
    .map(([task]) => task);
  return [...new Set(done)];
}

/** Returns a checkpoint as the graph knows it, without what is noted beside it. */
export function withoutRest<T extends CheckpointTuple | undefined>(tuple: T): T {
  if (tuple?.pendingWrites === undefined) return tuple;
  const isOfGraph = ([, channel]: CheckpointPendingWrite) => channel !== REST_CHANNEL;
  return { ...tuple, pendingWrites: tuple.pendingWrites.filter(isOfGraph) };
}

function readLink(value: unknown): Link | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { session, checkpoint, taken } = value as Record<string, unknown>;
  if (!isId(session) || !isId(checkpoint)) return undefined;
  return { session, checkpoint, taken: taken === true };
}

function isId(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= ID_LENGTH_MAX;
}
