import { createHash } from "node:crypto";
import { type PendingWrite, WRITES_IDX_MAP } from "@langchain/langgraph-checkpoint";
import type { Change, WriteConditions } from "../../portable/records/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { changesOfRecord } from "./checkpoint-record.ts";
import type { GraphPlace } from "./graph-config.ts";
import type { RecentWrites } from "./recent-checkpoints.ts";
import { writeKey } from "./record-keys.ts";
import type { SaverTools } from "./saver-tools.ts";
import type { EncodedValue } from "./value-store.ts";
import { openWrite, type WriteRecord } from "./write-record.ts";

const SET_CHARS = 16;

/**
 * Keeps what a task has written below a checkpoint, which may come later.
 *
 * What is there already stays, so that a resumed run reads what was written first; what another
 * branch wrote in its place is kept beside it. Errors, interrupts and answers are replaced.
 */
export async function putWrites(
  tools: SaverTools,
  { thread, namespace, id, how }: GraphPlace & { how: WriteConditions },
  writes: readonly PendingWrite[],
  taskId: string,
): Promise<void> {
  if (id === undefined) {
    throw new WaypointError("USAGE_INVALID", "The config of the writes has no checkpoint_id.");
  }
  if (writes.length === 0) return;
  const isSpecial = writes.every(([channel]) => isSpecialChannel(channel));
  const encoding = encodeWrites(tools, writes);
  const handedOver = encoding.then((each) => each.set);
  const recent: RecentWrites = { set: handedOver, sent: new Map(), keptIds: new Set() };
  // Whoever waits for the writes hears of it; this is for whoever puts the next checkpoint.
  recent.set.catch(() => {});
  if (!isSpecial) tools.recent.touch(thread, namespace, id).writes.set(taskId, recent);
  const { set, values } = await encoding;
  const needed = new Map(values.flatMap(({ objects: each }) => [...each]));
  const objects = tools.values.changesOf(needed);
  recent.sent = new Map([...needed.keys()].map((id, index) => [id, objects[index] as Change]));
  const keep = (branch: string, mode: "replace" | "first") => {
    const rows = values.map(({ stored }, index): Change[] => {
      const channel = writes[index]?.[0] as string;
      const at = isSpecialChannel(channel) ? Number(WRITES_IDX_MAP[channel]) : index;
      const key = writeKey({ namespace, id, taskId, branch, index: at });
      const row: WriteRecord = { task: taskId, channel, set, value: stored };
      return changesOfRecord(tools, { thread, key, mode }, row);
    });
    const expiry = tools.expiry.changesFor(thread);
    const changes = [...objects, ...expiry, ...rows.flat()];
    // The put that they lead to comes at once, as a rule: both are one transaction then.
    return tools.records.write(thread, changes, { ...how, mayWait: true });
  };
  try {
    const { kept } = await keep("", isSpecial ? "replace" : "first");
    if (await isOther(tools, thread, kept, set)) await keep(set, "first");
    recent.keptIds = new Set(needed.keys());
  } finally {
    recent.sent = new Map();
  }
}

/** A channel may be called as what every object has. */
function isSpecialChannel(channel: string): boolean {
  return Object.hasOwn(WRITES_IDX_MAP, channel);
}

async function encodeWrites(
  { values }: SaverTools,
  writes: readonly PendingWrite[],
): Promise<{ set: string; values: EncodedValue[] }> {
  const hash = createHash("sha256");
  const encoded: EncodedValue[] = [];
  for (const [channel, value] of writes) {
    const each = await values.encode(value);
    hash.update(JSON.stringify([channel, each.stored]));
    encoded.push(each);
  }
  return { set: hash.digest("hex").slice(0, SET_CHARS), values: encoded };
}

/** Tells whether what stayed is something else than what was to be kept. */
async function isOther(
  tools: SaverTools,
  thread: string,
  kept: readonly string[],
  set: string,
): Promise<boolean> {
  if (kept.length === 0) return false;
  for (const [key, value] of await tools.records.read(thread, kept)) {
    const row = await openWrite(tools, { thread, key }, value);
    if (row.set !== set) return true;
  }
  return false;
}
