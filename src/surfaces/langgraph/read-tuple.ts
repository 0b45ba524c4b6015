import {
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  maxChannelVersion,
  TASKS,
} from "@langchain/langgraph-checkpoint";
import type { CheckpointRecord, RecordTools } from "./checkpoint-record.ts";
import { configOf } from "./graph-config.ts";
import { readWrites } from "./read-writes.ts";

/** Before this version, what tasks sent to others stood with their writes alone. */
const VERSION_WITH_TASKS = 4;

/** Returns a checkpoint with its values and the writes below it. */
export async function readTuple(
  tools: RecordTools,
  thread: string,
  record: CheckpointRecord,
): Promise<CheckpointTuple> {
  const at = { thread, namespace: record.ns, id: record.id };
  const writes = (await readWrites(tools, at)).filter(({ isFirst }) => isFirst);
  const stored = [
    record.metadata,
    ...record.values.map(([, value]) => value),
    ...writes.map(({ row }) => row.value),
  ];
  const [metadata, ...values] = await tools.values.readAll(tools.records, thread, stored);
  const channels = record.values.map(([name], index) => [name, values[index]] as const);
  const checkpoint: Checkpoint = {
    v: record.v,
    id: record.id,
    ts: record.ts,
    channel_values: Object.fromEntries(channels),
    channel_versions: Object.fromEntries(record.versions),
    versions_seen: Object.fromEntries(record.seen),
  };
  await addSentTasks(tools, thread, record, checkpoint);
  const written = values.slice(channels.length);
  return {
    config: configOf(thread, record.ns, record.id),
    checkpoint,
    metadata: metadata as CheckpointMetadata,
    pendingWrites: writes.map(({ row }, index): CheckpointPendingWrite => {
      return [row.task, row.channel, written[index]];
    }),
    ...(record.parent === null ? {} : { parentConfig: configOf(thread, record.ns, record.parent) }),
  };
}

/** Returns what a checkpoint says of itself, without its values. */
export async function readMetadata(
  { records, values }: RecordTools,
  thread: string,
  record: CheckpointRecord,
): Promise<CheckpointMetadata> {
  const [metadata] = await values.readAll(records, thread, [record.metadata]);
  return metadata as CheckpointMetadata;
}

/** Gives a checkpoint of an older LangGraph what newer ones have as a channel. */
async function addSentTasks(
  tools: RecordTools,
  thread: string,
  record: CheckpointRecord,
  checkpoint: Checkpoint,
): Promise<void> {
  if (record.v >= VERSION_WITH_TASKS || record.parent === null) return;
  const at = { thread, namespace: record.ns, id: record.parent };
  const sent = (await readWrites(tools, at)).filter(
    ({ row, isFirst }) => isFirst && row.channel === TASKS,
  );
  const stored = sent.map(({ row }) => row.value);
  checkpoint.channel_values[TASKS] = await tools.values.readAll(tools.records, thread, stored);
  const versions = Object.values(checkpoint.channel_versions);
  checkpoint.channel_versions[TASKS] = versions.length > 0 ? maxChannelVersion(...versions) : 1;
}
