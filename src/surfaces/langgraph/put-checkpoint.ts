import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
} from "@langchain/langgraph-checkpoint";
import type { Change, WriteConditions } from "../../portable/records/index.ts";
import {
  type CheckpointRecord,
  changesOfRecord,
  factsOf,
  readCheckpoint,
} from "./checkpoint-record.ts";
import type { RecentCheckpoint } from "./recent-checkpoints.ts";
import { checkpointKey } from "./record-keys.ts";
import type { SaverTools } from "./saver-tools.ts";
import type { EncodedValue } from "./value-store.ts";
import { claimWrites } from "./write-claims.ts";

interface Place {
  thread: string;
  namespace: string;
  parent: string | null;
}

interface Put {
  checkpoint: Checkpoint;
  metadata: CheckpointMetadata;
  newVersions: ChannelVersions;
  /** What it has to survive. */
  how: WriteConditions;
}

/** A channel's value, and which objects it needs as far as this program knows. */
interface Channel extends EncodedValue {
  ids: ReadonlySet<string> | undefined;
}

const NOTHING: RecentCheckpoint = { record: null, ids: new Map(), isOwn: false, writes: new Map() };

/**
 * Keeps a checkpoint. Values that its parent has already are named, not written.
 *
 * On failure nothing of it is there that anybody would read.
 */
export async function putCheckpoint(tools: SaverTools, at: Place, put: Put): Promise<void> {
  const parent = await recentParent(tools, at);
  if (at.parent === put.checkpoint.id) return await putAgain(tools, at, put, parent);
  const line = { parent: at.parent, claims: await claimWrites(tools, { ...at, parent }, put) };
  const isDone = await tryToPut(tools, at, put, parent, line);
  // Somebody has removed the parent meanwhile: then nothing of it can be relied on.
  if (!isDone) await tryToPut(tools, at, put, NOTHING, line);
  parent.writes.clear();
}

/**
 * Keeps a checkpoint that is put below itself, as a run does that keeps one at its exit alone: it
 * stays where it was in its line, and what was written below it stays for its next child.
 */
async function putAgain(
  tools: SaverTools,
  at: Place,
  put: Put,
  before: RecentCheckpoint,
): Promise<void> {
  const { isOwn, record } = before;
  const line = { parent: record?.parent ?? null, claims: record?.claims ?? null };
  const isDone = await tryToPut(tools, at, put, before, line);
  if (!isDone) await tryToPut(tools, at, put, NOTHING, line);
  before.isOwn = isOwn;
}

async function recentParent(
  { recent, ...tools }: SaverTools,
  { thread, namespace, parent }: Place,
): Promise<RecentCheckpoint> {
  if (parent === null) return NOTHING;
  const known = recent.touch(thread, namespace, parent);
  known.record ??= (await readCheckpoint(tools, { thread, namespace, id: parent })) ?? null;
  return known;
}

async function tryToPut(
  tools: SaverTools,
  { thread, namespace, parent: parentId }: Place,
  { checkpoint, metadata, newVersions, how }: Put,
  parent: RecentCheckpoint,
  line: Pick<CheckpointRecord, "parent" | "claims">,
): Promise<boolean> {
  const channels = await encodeChannels(tools, checkpoint, newVersions, parentId, parent);
  const encodedMetadata = await tools.values.encode(metadata);
  const record: CheckpointRecord = {
    ...factsOf(checkpoint),
    ...line,
    ns: namespace,
    metadata: encodedMetadata.stored,
    values: [...channels].map(([name, { stored }]) => [name, stored]),
  };
  const known = knownObjects(parent);
  const closed = sentObjects(parent);
  const key = checkpointKey(namespace, checkpoint.id);
  const all = [encodedMetadata, ...channels.values()].map(({ objects }) => objects);
  const changes = [
    ...all.flatMap((objects) => tools.values.changesOf(objects, known, closed)),
    ...tools.expiry.changesFor(thread, parent.record === null),
    ...changesOfRecord(tools, { thread, key }, record),
  ];
  const requires =
    parent.record === null ? {} : { requires: checkpointKey(namespace, parent.record.id) };
  const { isDone } = await tools.records.write(thread, changes, { ...how, ...requires });
  if (isDone) remember(tools, thread, record, channels);
  return isDone;
}

/** Returns the channels that the checkpoint has a value of. */
async function encodeChannels(
  { values }: SaverTools,
  checkpoint: Checkpoint,
  newVersions: ChannelVersions,
  parentId: string | null,
  parent: RecentCheckpoint,
): Promise<Map<string, Channel>> {
  const before = new Map(parent.record?.versions);
  const kept = new Map(parent.record?.values);
  const channels = new Map<string, Channel>();
  for (const [name, value] of Object.entries(checkpoint.channel_values)) {
    const version = checkpoint.channel_versions[name];
    const stored = kept.get(name);
    const isNew = Object.hasOwn(newVersions, name);
    if (!isNew && stored !== undefined && version !== undefined && before.get(name) === version) {
      channels.set(name, { stored, objects: new Map(), ids: parent.ids.get(name) });
    } else if (isNew || parentId !== null) {
      const encoded = await values.encode(value);
      channels.set(name, { ...encoded, ids: new Set(encoded.objects.keys()) });
    }
    // Without a parent, what has not changed is nowhere.
  }
  return channels;
}

/** Returns what tells whether an object is there as long as the parent is. */
function knownObjects({ record, ids, writes }: RecentCheckpoint): (id: string) => boolean {
  const sets = [...ids.values()];
  // Of what is on its way to the store nobody knows whether it will arrive.
  if (record !== null) for (const each of writes.values()) sets.push(each.keptIds);
  return (id) => sets.some((each) => each.has(id));
}

/** Returns what finds an object among those that writes below the parent are just bringing. */
function sentObjects({ writes }: RecentCheckpoint): (id: string) => Change | undefined {
  const maps = [...writes.values()].map(({ sent }) => sent).filter(({ size }) => size > 0);
  return (id) => maps.find((each) => each.has(id))?.get(id);
}

function remember(
  { recent }: SaverTools,
  thread: string,
  record: CheckpointRecord,
  channels: ReadonlyMap<string, Channel>,
): void {
  const entry = recent.touch(thread, record.ns, record.id);
  entry.record = record;
  entry.isOwn = true;
  entry.ids = new Map(
    [...channels].flatMap(([name, { ids }]) => (ids === undefined ? [] : [[name, ids] as const])),
  );
}
