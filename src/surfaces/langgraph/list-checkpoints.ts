import { isDeepStrictEqual } from "node:util";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  type CheckpointListOptions,
  type CheckpointTuple,
  getCheckpointId,
} from "@langchain/langgraph-checkpoint";
import { type CheckpointRecord, openCheckpoint, type RecordTools } from "./checkpoint-record.ts";
import { textOf } from "./graph-config.ts";
import { readMetadata, readTuple } from "./read-tuple.ts";
import { checkpointKey, checkpointsPrefix } from "./record-keys.ts";
import type { SaverTools } from "./saver-tools.ts";

const KEYS_PAGE = 1000;
const RECORDS_PAGE = 32;
const THREADS_PAGE = 100;

/** Returns the record of the greatest id in a namespace. */
export async function newestCheckpoint(
  tools: RecordTools,
  thread: string,
  namespace: string,
): Promise<CheckpointRecord | undefined> {
  const prefix = checkpointsPrefix(namespace);
  const [newest] = await tools.records.scan(thread, { prefix, isReverse: true, limit: 1 });
  if (newest === undefined) return undefined;
  return await openCheckpoint(tools, { thread, key: newest.key }, newest.value);
}

/** Yields what fits, the newest of each thread first. */
export async function* listCheckpoints(
  tools: SaverTools,
  config: RunnableConfig,
  { before, limit = Number.POSITIVE_INFINITY, filter = {} }: CheckpointListOptions,
): AsyncGenerator<CheckpointTuple> {
  const one = textOf(config.configurable, "thread_id");
  const namespace = textOf(config.configurable, "checkpoint_ns");
  const asked = {
    ...(namespace === undefined ? {} : { namespace }),
    id: getCheckpointId(config),
    before: before === undefined ? "" : getCheckpointId(before),
  };
  let left = limit;
  for await (const thread of one === undefined ? allThreads(tools) : [one]) {
    if (await tools.expiry.endIfOver(thread)) continue;
    for await (const record of recordsOf(tools, thread, asked)) {
      if (left <= 0) return;
      if (!(await fits(tools, thread, record, filter))) continue;
      yield await readTuple(tools, thread, record);
      left -= 1;
    }
  }
}

/** Yields the names of all threads. */
export async function* allThreads({ records }: RecordTools): AsyncGenerator<string> {
  for (let after: string | undefined; ; ) {
    const page = await records.threads({
      ...(after === undefined ? {} : { after }),
      limit: THREADS_PAGE,
    });
    yield* page;
    if (page.length < THREADS_PAGE) return;
    after = page.at(-1);
  }
}

async function fits(
  tools: RecordTools,
  thread: string,
  record: CheckpointRecord,
  filter: Record<string, unknown>,
): Promise<boolean> {
  const wanted = Object.entries(filter);
  if (wanted.length === 0) return true;
  const metadata = (await readMetadata(tools, thread, record)) as Record<string, unknown>;
  return wanted.every(([key, value]) => isDeepStrictEqual(metadata[key], value));
}

interface Asked {
  namespace?: string;
  /** Empty where any will do. */
  id: string;
  before: string;
}

/** Yields records, the newest first; only keys are held of all of them. */
async function* recordsOf(
  tools: RecordTools,
  thread: string,
  { namespace, id, before }: Asked,
): AsyncGenerator<CheckpointRecord> {
  const keys = await keysOf(tools, thread, namespace);
  const idIn = (key: string) => key.slice(key.lastIndexOf("/") + 1);
  const [only, end] = [id, before].map((each) => idIn(checkpointKey("", each)));
  const wanted = keys
    .filter(
      (key) => (id === "" || idIn(key) === only) && (before === "" || idIn(key) < (end ?? "")),
    )
    .sort((one, other) => {
      if (idIn(one) !== idIn(other)) return idIn(one) < idIn(other) ? 1 : -1;
      // Of one id in several namespaces the least comes first, in all stores.
      return one < other ? -1 : 1;
    });
  for (let at = 0; at < wanted.length; at += RECORDS_PAGE) {
    const page = wanted.slice(at, at + RECORDS_PAGE);
    const found = await tools.records.read(thread, page);
    for (const key of page) {
      const kept = found.get(key);
      // One that was removed meanwhile is passed over.
      if (kept !== undefined) yield await openCheckpoint(tools, { thread, key }, kept);
    }
  }
}

async function keysOf(
  { records }: RecordTools,
  thread: string,
  namespace: string | undefined,
): Promise<string[]> {
  const prefix = checkpointsPrefix(namespace);
  const keys: string[] = [];
  for (let after = ""; ; ) {
    const options = { prefix, after, limit: KEYS_PAGE, isKeysOnly: true };
    const page = await records.scan(thread, options);
    for (const { key } of page) keys.push(key);
    if (page.length < KEYS_PAGE) return keys;
    after = page.at(-1)?.key ?? after;
  }
}
