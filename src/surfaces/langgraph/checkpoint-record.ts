import type { ChannelVersions, Checkpoint } from "@langchain/langgraph-checkpoint";
import type { Change, ThreadRecords } from "../../portable/records/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { checkpointKey } from "./record-keys.ts";
import { damaged, type Seal } from "./seal.ts";
import type { StoredValue, ValueStore } from "./value-store.ts";

/** What a task has written, by its id and the hash of what it was. */
export type WriteClaim = readonly [taskId: string, set: string];

/** A checkpoint as it is kept. */
export interface CheckpointRecord {
  /** {@link RECORD_FORMAT} */
  f: number;
  v: number;
  id: string;
  ts: string;
  /** Its namespace. */
  ns: string;
  parent: string | null;
  metadata: StoredValue;
  versions: readonly (readonly [channel: string, version: number | string])[];
  /** The channels that have a value. */
  values: readonly (readonly [channel: string, value: StoredValue])[];
  seen: readonly (readonly [node: string, versions: ChannelVersions])[];
  /** The writes below its parent that made it of it; null where nobody knows. */
  claims: readonly WriteClaim[] | null;
}

export const RECORD_FORMAT = 1;
/** Longer ones lie in objects, as values do. */
const DIRECT_BYTES_MAX = 64 * 1024;

/** A record that is too long to stand at its key. */
interface Elsewhere {
  elsewhere: StoredValue;
}

/** How records are made of bytes, and where they lie. */
export interface RecordTools {
  records: ThreadRecords;
  values: ValueStore;
  seal: Seal;
}

/** Returns what keeps a record: its objects first, itself last. */
export function changesOfRecord<Kept extends object>(
  { values, seal }: RecordTools,
  at: { thread: string; key: string; mode?: "replace" | "first" },
  record: Kept,
): Change[] {
  const { thread, key, mode = "replace" } = at;
  const bytes = Buffer.from(JSON.stringify(record));
  const close = (content: Buffer) => seal.close(content, placeOf(thread, key));
  if (bytes.length <= DIRECT_BYTES_MAX) return [{ key, value: close(bytes), mode }];
  const { stored, objects } = values.encodeBytes("bytes", bytes);
  const elsewhere: Elsewhere = { elsewhere: stored };
  const value = close(Buffer.from(JSON.stringify(elsewhere)));
  return [...values.changesOf(objects), { key, value, mode }];
}

/** @throws STORE_FAILED  it is damaged. */
export async function openRecord<Kept extends object>(
  { records, values, seal }: RecordTools,
  at: { thread: string; key: string },
  kept: Uint8Array,
): Promise<Kept> {
  const found = parse<Kept | Elsewhere>(seal.open(kept, placeOf(at.thread, at.key)), at.key);
  if (!("elsewhere" in found)) return found;
  const [bytes] = await values.readBytes(records, at.thread, [found.elsewhere]);
  return parse<Kept>(bytes as Buffer, at.key);
}

/** Returns where a record's own objects are; null where it has none. */
export function elsewhereOf(
  { seal }: RecordTools,
  at: { thread: string; key: string },
  kept: Uint8Array,
): StoredValue | null {
  const found = parse<object>(seal.open(kept, placeOf(at.thread, at.key)), at.key);
  return "elsewhere" in found ? (found as Elsewhere).elsewhere : null;
}

/**
 * Opens a checkpoint's record.
 *
 * @throws FORMAT_TOO_NEW  a newer Waypoint wrote it.
 */
export async function openCheckpoint(
  tools: RecordTools,
  at: { thread: string; key: string },
  kept: Uint8Array,
): Promise<CheckpointRecord> {
  const record = await openRecord<CheckpointRecord>(tools, at, kept);
  if (record.f <= RECORD_FORMAT) return record;
  throw new WaypointError("FORMAT_TOO_NEW", "A newer Waypoint wrote this graph's checkpoint.", {
    hint: "Install that version again, or continue from an older checkpoint.",
    detail: { found: record.f, known: RECORD_FORMAT },
  });
}

/** Returns the record of a checkpoint, undefined where there is none. */
export async function readCheckpoint(
  tools: RecordTools,
  at: { thread: string; namespace: string; id: string },
): Promise<CheckpointRecord | undefined> {
  const key = checkpointKey(at.namespace, at.id);
  const kept = (await tools.records.read(at.thread, [key])).get(key);
  return kept === undefined
    ? undefined
    : await openCheckpoint(tools, { thread: at.thread, key }, kept);
}

/** Returns the parts of a checkpoint that a record has as they are. */
export function factsOf(
  checkpoint: Checkpoint,
): Pick<CheckpointRecord, "f" | "v" | "id" | "ts" | "versions" | "seen"> {
  return {
    f: RECORD_FORMAT,
    v: checkpoint.v,
    id: checkpoint.id,
    ts: checkpoint.ts,
    versions: Object.entries(checkpoint.channel_versions),
    seen: Object.entries(checkpoint.versions_seen),
  };
}

/** Records of one thread cannot be put in the place of another's. */
function placeOf(thread: string, key: string): string {
  return `${thread}\n${key}`;
}

function parse<Kept>(bytes: Buffer, key: string): Kept {
  try {
    return JSON.parse(bytes.toString()) as Kept;
  } catch (cause) {
    throw damaged(key, cause);
  }
}
