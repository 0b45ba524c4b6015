import {
  type BaseCheckpointSaver,
  type CheckpointTuple,
  copyCheckpoint,
  uuid6,
} from "@langchain/langgraph-checkpoint";
import { doneTasks, hasNested, type Link, type Rest, withLink } from "./link-record.ts";
import { configOf } from "./run-config.ts";

/**
 * Puts a copy of a checkpoint in its place without the work of a step that did not come to its end, and
 * returns it; the checkpoint itself where there is no such work.
 *
 * Nodes of that step, and subgraphs in them, may have come further than the machine that the graph goes on
 * with. So they run again, all of them, and what they wrote stays with the checkpoint that was left.
 * This comes before the machine moves: whoever is killed in between finds the copy.
 */
export async function dropUnfinished(
  saver: BaseCheckpointSaver,
  thread: string,
  tuple: CheckpointTuple,
  { link, rest }: { link: Link; rest: Rest | undefined },
): Promise<CheckpointTuple> {
  const kept = new Set(rest?.tasks);
  const isDone = doneTasks(tuple).some((task) => !kept.has(task));
  if (!isDone && !hasNested(tuple, rest)) return tuple;
  const checkpoint = { ...copyCheckpoint(tuple.checkpoint), id: uuid6(0) };
  checkpoint.ts = new Date().toISOString();
  const { step = -1, parents = {}, counters_since_delta_snapshot: counters } = tuple.metadata ?? {};
  const metadata = {
    ...({ source: "fork", step, parents } as const),
    ...(counters === undefined ? {} : { counters_since_delta_snapshot: counters }),
  };
  const parentId = tuple.parentConfig?.configurable?.["checkpoint_id"] as string | undefined;
  const linked = withLink(metadata, { ...link, taken: false });
  const versions = { ...checkpoint.channel_versions };
  const config = await saver.put(configOf(thread, parentId), checkpoint, linked, versions);
  return (await saver.getTuple(config)) ?? tuple;
}
