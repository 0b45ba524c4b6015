import type { CheckpointPendingWrite } from "@langchain/langgraph-checkpoint";
import { type CheckpointRecord, type RecordTools, readCheckpoint } from "./checkpoint-record.ts";
import type { GraphPlace } from "./graph-config.ts";
import { newestCheckpoint } from "./list-checkpoints.ts";
import { readWrites } from "./read-writes.ts";
import { checkpointKey } from "./record-keys.ts";
import { damaged } from "./seal.ts";
import type { StoredValue } from "./stored-value.ts";
import type { WriteRecord } from "./write-record.ts";

/** What made a channel's value: the newest that was kept as a whole, and the writes after it. */
export interface DeltaHistory {
  writes: CheckpointPendingWrite[];
  seed?: unknown;
}

interface Collected {
  /** The newest first. */
  steps: WriteRecord[][];
  seed: StoredValue | null;
}

/** Returns the history of each channel on the way from the root to the checkpoint. */
export async function readDeltaHistory(
  tools: RecordTools,
  at: GraphPlace,
  channels: readonly string[],
): Promise<Record<string, DeltaHistory>> {
  const collected = await collect(tools, at, channels);
  const histories: [string, DeltaHistory][] = [];
  for (const [channel, { steps, seed }] of collected) {
    const rows = steps.toReversed().flat();
    const stored = rows.map(({ value }) => value);
    const [seedValue, ...values] = await tools.values.readAll(tools.records, at.thread, [
      seed ?? NO_SEED,
      ...stored,
    ]);
    const writes = rows.map((row, index): CheckpointPendingWrite => {
      return [row.task, channel, values[index]];
    });
    histories.push([channel, { writes, ...(seed === null ? {} : { seed: seedValue }) }]);
  }
  return Object.fromEntries(histories);
}

const NO_SEED: StoredValue = { t: "json", v: "null" };

async function collect(
  tools: RecordTools,
  { thread, namespace, id }: GraphPlace,
  channels: readonly string[],
): Promise<Map<string, Collected>> {
  const collected = new Map<string, Collected>(
    channels.map((name) => [name, { steps: [], seed: null }]),
  );
  const open = new Set(channels);
  let child =
    id === undefined
      ? await newestCheckpoint(tools, thread, namespace)
      : await readCheckpoint(tools, { thread, namespace, id });
  const seen = new Set<string>();
  while (child !== undefined && child.parent !== null && open.size > 0) {
    // A line that leads back to itself has no beginning.
    if (seen.has(child.id)) throw damaged(checkpointKey(namespace, child.id));
    seen.add(child.id);
    const place = { thread, namespace, id: child.parent };
    const parent = await readCheckpoint(tools, place);
    if (parent === undefined) break;
    const rows = claimedBy(child, await readWrites(tools, place));
    const values = new Map(parent.values);
    for (const name of open) {
      const into = collected.get(name) as Collected;
      into.steps.push(rows.filter(({ channel }) => channel === name));
      into.seed = values.get(name) ?? null;
      if (into.seed !== null) open.delete(name);
    }
    child = parent;
  }
  return collected;
}

/** Returns the writes below its parent that made this checkpoint. */
function claimedBy(
  { claims }: CheckpointRecord,
  writes: readonly { row: WriteRecord; isFirst: boolean }[],
): WriteRecord[] {
  if (claims === null) return writes.filter(({ isFirst }) => isFirst).map(({ row }) => row);
  const sets = new Map(claims);
  const claimed = writes.filter(({ row }) => sets.get(row.task) === row.set);
  // What was kept for two branches, and is the same for both, stands there once or twice.
  const whole = new Set(claimed.filter(({ isFirst }) => !isFirst).map(({ row }) => row.task));
  return claimed
    .filter(({ row, isFirst }) => !isFirst || !whole.has(row.task))
    .map(({ row }) => row);
}
