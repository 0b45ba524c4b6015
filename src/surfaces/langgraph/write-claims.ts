import { isDeepStrictEqual } from "node:util";
import type { Checkpoint, CheckpointMetadata } from "@langchain/langgraph-checkpoint";
import { type CheckpointRecord, openCheckpoint, type WriteClaim } from "./checkpoint-record.ts";
import { readWrites } from "./read-writes.ts";
import type { RecentCheckpoint } from "./recent-checkpoints.ts";
import { checkpointKey, checkpointsPrefix } from "./record-keys.ts";
import type { SaverTools } from "./saver-tools.ts";

/** The task by which LangGraph names what came from outside, not from a node. */
const INPUT_TASK = "00000000-0000-0000-0000-000000000000";
const PAGE = 100;

interface Parent {
  thread: string;
  namespace: string;
  parent: RecentCheckpoint;
}

/**
 * Returns which of the writes below the parent made the new checkpoint of it.
 *
 * LangGraph names them by the parent alone. Two branches of one checkpoint would else have the writes
 * of both, and a channel that is kept as its writes would be told wrongly.
 */
export async function claimWrites(
  tools: SaverTools,
  { thread, namespace, parent }: Parent,
  { checkpoint, metadata }: { checkpoint: Checkpoint; metadata: CheckpointMetadata },
): Promise<readonly WriteClaim[] | null> {
  if (parent.record === null && parent.writes.size === 0) return null;
  const recent = await claimsOf(parent);
  if (metadata.source === "input") return recent.filter(([task]) => task === INPUT_TASK);
  if (metadata.source === "fork") {
    if (
      isDeepStrictEqual(
        Object.fromEntries(parent.record?.versions ?? []),
        checkpoint.channel_versions,
      )
    ) {
      return [];
    }
    const siblings = await siblingsOf(tools, { thread, namespace, parent });
    const copied = siblings.find(({ versions }) =>
      isDeepStrictEqual(Object.fromEntries(versions), checkpoint.channel_versions),
    );
    return copied?.claims ?? recent;
  }
  if (parent.isOwn || parent.record === null) return recent;
  return [...recent, ...(await unclaimed(tools, { thread, namespace, parent }, recent))];
}

async function claimsOf({ writes }: RecentCheckpoint): Promise<WriteClaim[]> {
  const claims: WriteClaim[] = [];
  for (const [task, encoding] of writes) {
    const set = await encoding.set.catch(() => null);
    if (set !== null) claims.push([task, set]);
  }
  return claims;
}

/** Returns the writes that an earlier run left below the parent, and that no other child has. */
async function unclaimed(
  tools: SaverTools,
  at: Parent,
  recent: readonly WriteClaim[],
): Promise<WriteClaim[]> {
  const { thread, namespace, parent } = at;
  const id = parent.record?.id ?? "";
  const writes = await readWrites(tools, { thread, namespace, id });
  if (writes.length === 0) return [];
  const taken = new Set(recent.map(([task]) => task));
  for (const sibling of await siblingsOf(tools, at)) {
    // One that does not say which are its own may have any.
    for (const [task] of sibling.claims ?? writes.map(({ row }) => [row.task])) {
      if (task !== undefined) taken.add(task);
    }
  }
  const left = writes.filter(({ row, isFirst }) => isFirst && !taken.has(row.task));
  return [...new Map(left.map(({ row }) => [row.task, row.set]))];
}

/** Returns the children of the parent; ids grow with time, so all are above it. */
async function siblingsOf(
  tools: SaverTools,
  { thread, namespace, parent }: Parent,
): Promise<CheckpointRecord[]> {
  const found: CheckpointRecord[] = [];
  const id = parent.record?.id ?? "";
  const prefix = checkpointsPrefix(namespace);
  for (let after = checkpointKey(namespace, id); ; ) {
    const page = await tools.records.scan(thread, { prefix, after, limit: PAGE });
    for (const { key, value } of page) {
      const record = await openCheckpoint(tools, { thread, key }, value);
      if (record.parent === id) found.push(record);
    }
    if (page.length < PAGE) return found;
    after = page.at(-1)?.key ?? after;
  }
}
