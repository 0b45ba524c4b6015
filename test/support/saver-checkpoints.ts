import {
  type Checkpoint,
  type CheckpointMetadata,
  emptyCheckpoint,
  uuid6,
} from "@langchain/langgraph-checkpoint";
import type { WaypointSaver } from "../../src/surfaces/langgraph/index.ts";

export const META: CheckpointMetadata = { source: "loop", step: 0, parents: {} };

/** Returns the config of a thread, of one of its checkpoints where an id is given. */
export function at(thread: string, id?: string, namespace = "") {
  const configurable = { thread_id: thread, checkpoint_ns: namespace };
  return { configurable: id === undefined ? configurable : { ...configurable, checkpoint_id: id } };
}

/** Returns a checkpoint of LangGraph's with these values and versions. */
export function checkpointOf(
  values: Record<string, unknown>,
  versions: Record<string, number> = {},
): Checkpoint {
  const given = new Map(Object.entries(versions));
  const all = Object.fromEntries(Object.keys(values).map((name) => [name, given.get(name) ?? 1]));
  return {
    ...emptyCheckpoint(),
    id: uuid6(3),
    channel_values: values,
    channel_versions: { ...all, ...versions },
  };
}

/** Puts a checkpoint of which some channels are new, and returns its config. */
export async function putValues(
  saver: WaypointSaver,
  parent: object,
  { values, versions, fresh }: { values: object; versions: object; fresh: readonly string[] },
) {
  const checkpoint = checkpointOf(
    values as Record<string, unknown>,
    versions as Record<string, number>,
  );
  const newVersions = Object.fromEntries(
    fresh.map((key) => [key, checkpoint.channel_versions[key] ?? 1]),
  );
  return await saver.put(parent, checkpoint, META, newVersions);
}
