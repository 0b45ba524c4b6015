import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
  type SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import type { ThreadRecords } from "../../portable/records/index.ts";
import { readCheckpoint } from "./checkpoint-record.ts";
import { copyThread } from "./copy-thread.ts";
import { type DeltaHistory, readDeltaHistory } from "./delta-history.ts";
import { configOf, placeOfConfig, requireThreadName, survivalOf } from "./graph-config.ts";
import type { KeepRules } from "./kept-checkpoints.ts";
import { allThreads, listCheckpoints, newestCheckpoint } from "./list-checkpoints.ts";
import { nameCheckpoint } from "./name-checkpoint.ts";
import { openRecords } from "./open-records.ts";
import { type Pruned, pruneThread } from "./prune-thread.ts";
import { putCheckpoint } from "./put-checkpoint.ts";
import { putWrites } from "./put-writes.ts";
import { readTuple } from "./read-tuple.ts";
import { RecentCheckpoints } from "./recent-checkpoints.ts";
import { nameKey } from "./record-keys.ts";
import { SafeSerializer } from "./safe-serializer.ts";
import type { SaverTools } from "./saver-tools.ts";
import { type EncryptionOptions, Seal } from "./seal.ts";
import { type ExpiryOptions, ThreadExpiry } from "./thread-expiry.ts";
import { readNames } from "./thread-survey.ts";
import { ValueStore } from "./value-store.ts";

/** Settings of a {@link WaypointSaver}. */
export interface SaverOptions {
  /** How values become bytes. @defaultValue a {@link SafeSerializer} */
  serde?: SerializerProtocol;
  /** Encrypts all values, and what checkpoints say of them. @defaultValue none */
  encryption?: EncryptionOptions;
  /** How long threads are kept. @defaultValue for good */
  expiry?: ExpiryOptions;
}

/** Which checkpoints a pruning keeps, and in which threads it looks. */
export interface PruneOptions extends KeepRules {
  threads?: readonly string[];
}

/**
 * Keeps the checkpoints of graphs of LangGraph, by content: what two checkpoints of a thread have in
 * common is kept once.
 *
 * A put and a write of a task have reached the store when they are answered.
 */
export class WaypointSaver extends BaseCheckpointSaver implements AsyncDisposable {
  readonly #tools: SaverTools;

  constructor(records: ThreadRecords, options: SaverOptions = {}) {
    super(options.serde ?? new SafeSerializer());
    const seal = new Seal(options.encryption);
    const values = new ValueStore(this.serde, seal);
    const tools = { records, values, seal };
    const expiry = new ThreadExpiry(tools, options.expiry);
    this.#tools = { ...tools, expiry, recent: new RecentCheckpoints() };
  }

  /**
   * Opens a store by its address, one line of configuration: `memory:`, `sqlite:PATH`,
   * `postgres://…`, `redis://…` or `dynamodb://TABLE?region=…`.
   *
   * @throws USAGE_INVALID, STORE_FAILED, STORE_UNREACHABLE, FORMAT_TOO_NEW, HOST_UNSUPPORTED
   */
  static async open(address: string, options: SaverOptions = {}): Promise<WaypointSaver> {
    return new WaypointSaver(await openRecords(address), options);
  }

  /** @throws USAGE_INVALID, STORE_FAILED, STORE_KEY_MISSING, FORMAT_TOO_NEW, STORE_UNREACHABLE */
  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (config.configurable?.["thread_id"] === undefined) return undefined;
    const { thread, namespace, id } = placeOfConfig(config);
    if (await this.#tools.expiry.endIfOver(thread)) return undefined;
    const record =
      id === undefined
        ? await newestCheckpoint(this.#tools, thread, namespace)
        : await readCheckpoint(this.#tools, { thread, namespace, id });
    return record === undefined ? undefined : await readTuple(this.#tools, thread, record);
  }

  /** Newest first; of several threads one after the other. */
  override async *list(
    config: RunnableConfig,
    options: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    yield* listCheckpoints(this.#tools, config, options);
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { thread, namespace, id: parent } = placeOfConfig(config);
    const at = { thread, namespace, parent: parent ?? null };
    const how = survivalOf(config);
    await putCheckpoint(this.#tools, at, { checkpoint, metadata, newVersions, how });
    return configOf(thread, namespace, checkpoint.id);
  }

  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
  ): Promise<void> {
    const place = { ...placeOfConfig(config), how: survivalOf(config) };
    await putWrites(this.#tools, place, writes, taskId);
  }

  override async deleteThread(threadId: string): Promise<void> {
    requireThreadName(threadId);
    this.#tools.recent.forget(threadId);
    this.#tools.expiry.forget(threadId);
    await this.#tools.records.deleteThread(threadId);
  }

  /** Of each channel the writes on the way to the checkpoint, not those of other branches. */
  override async getDeltaChannelHistory(options: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaHistory>> {
    const { thread, namespace, id } = placeOfConfig(options.config);
    return await readDeltaHistory(this.#tools, { thread, namespace, id }, options.channels);
  }

  /** Gives a checkpoint a name by which it is found, and kept; a name has one checkpoint. */
  async nameCheckpoint(config: RunnableConfig, name: string): Promise<void> {
    await nameCheckpoint(this.#tools, placeOfConfig(config), name);
  }

  /** Returns the configs of the checkpoints of a thread that have a name, by their names. */
  async namedCheckpoints(threadId: string): Promise<Map<string, RunnableConfig>> {
    const names = await readNames(this.#tools, threadId);
    return new Map(
      names.map(({ name }) => [name.name, configOf(threadId, name.namespace, name.id)]),
    );
  }

  /** Takes a name away; succeeds where there is none. */
  async removeName(threadId: string, name: string): Promise<void> {
    const key = nameKey(name);
    // Else a thread would be made by it.
    await this.#tools.records.write(threadId, [{ key, value: null }], { requires: key });
  }

  /**
   * Removes checkpoints that no rule keeps, with what nothing else needs.
   *
   * @param options.threads  which. @defaultValue all
   */
  async prune({ threads, ...rules }: PruneOptions = {}): Promise<Pruned> {
    const total: Pruned = { checkpoints: 0, objects: 0, busyThreads: [] };
    for await (const thread of threads ?? allThreads(this.#tools)) {
      this.#tools.recent.forget(thread);
      const pruned = await pruneThread(this.#tools, thread, rules, Date.now());
      if (pruned === null) total.busyThreads.push(thread);
      total.checkpoints += pruned?.checkpoints ?? 0;
      total.objects += pruned?.objects ?? 0;
    }
    return total;
  }

  /**
   * Copies a thread to another one: a branch that shares nothing with it from there on.
   *
   * @param options.upTo  the id of the checkpoint with which the copy ends. @defaultValue all there is
   * @returns how many checkpoints it has
   * @throws THREAD_EXISTS, CHECKPOINT_NOT_FOUND
   */
  async copyThread(
    sourceThreadId: string,
    targetThreadId: string,
    { upTo = null }: { upTo?: string | null } = {},
  ): Promise<number> {
    for (const thread of [sourceThreadId, targetThreadId]) requireThreadName(thread);
    const range = { source: sourceThreadId, target: targetThreadId, upTo };
    return await copyThread(this.#tools, range);
  }

  /** Removes all threads whose time is over, and returns how many those were. */
  async removeExpired(): Promise<number> {
    let removed = 0;
    for await (const thread of allThreads(this.#tools)) {
      if (await this.#tools.expiry.removeIfOver(thread)) removed += 1;
    }
    return removed;
  }

  /** Closes the store. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tools.records[Symbol.asyncDispose]();
  }
}
