import type { ChannelVersions, Checkpoint } from "@langchain/langgraph-checkpoint";
import type { Change, ThreadRecords } from "../../portable/records/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { checkpointKey } from "./record-keys.ts";
import { damaged, type Seal } from "./seal.ts";
import { isStored, type StoredValue } from "./stored-value.ts";
import type { ValueStore } from "./value-store.ts";

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

/**
 * Opens a record, of which `isWhole` tells whether it has all that it has to have.
 *
 * @throws STORE_FAILED  it is damaged.
 */
export async function openRecord<Kept extends object>(
  { records, values, seal }: RecordTools,
  at: { thread: string; key: string },
  kept: Uint8Array,
  isWhole: (record: Partial<Kept>) => boolean,
): Promise<Kept> {
  let found = parse<Kept | Elsewhere>(seal.open(kept, placeOf(at.thread, at.key)), at.key);
  if ("elsewhere" in found) {
    const [bytes] = await values.readBytes(records, at.thread, [found.elsewhere]);
    found = parse<Kept>(bytes as Buffer, at.key);
  }
  if (!isWhole(found as Kept)) throw damaged(at.key);
  return found as Kept;
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
  const isOurs = ({ f }: Partial<CheckpointRecord>) => typeof f === "number";
  const record = await openRecord<CheckpointRecord>(tools, at, kept, isOurs);
  if (record.f <= RECORD_FORMAT) {
    if (isWhole(record) && checkpointKey(record.ns, record.id) === at.key) return record;
    throw damaged(at.key);
  }
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

/** Tells whether a record has the parts that are gone through without a further look. */
function isWhole({ v, id, ts, ns, parent, ...lists }: Partial<CheckpointRecord>): boolean {
  const { metadata, versions, values, seen, claims } = lists;
  return (
    [id, ts, ns, parent ?? ""].every((text) => typeof text === "string") &&
    typeof v === "number" &&
    isStored(metadata) &&
    arePairs(versions, (version) => ["number", "string"].includes(typeof version)) &&
    arePairs(values, isStored) &&
    arePairs(seen, (nodes) => typeof nodes === "object" && nodes !== null) &&
    (claims === null || arePairs(claims, (set) => typeof set === "string"))
  );
}

function arePairs(list: unknown, isSecond: (second: unknown) => boolean): boolean {
  const isPair = (each: unknown) =>
    Array.isArray(each) && typeof each[0] === "string" && isSecond(each[1]);
  return Array.isArray(list) && list.every(isPair);
}

/** Records of one thread cannot be put in the place of another's. */
function placeOf(thread: string, key: string): string {
  return `${thread}\n${key}`;
}

function parse<Kept extends object>(bytes: Buffer, key: string): Kept {
  try {
    const found: unknown = JSON.parse(bytes.toString());
    if (typeof found === "object" && found !== null) return found as Kept;
  } catch (cause) {
    throw damaged(key, cause);
  }
  throw damaged(key);
}
