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
import { type RecordTools, readCheckpoint } from "./checkpoint-record.ts";
import { readDeltaHistory } from "./delta-history.ts";
import { configOf, placeOfConfig } from "./graph-config.ts";
import { listCheckpoints, newestCheckpoint } from "./list-checkpoints.ts";
import { putCheckpoint } from "./put-checkpoint.ts";
import { putWrites } from "./put-writes.ts";
import { readTuple } from "./read-tuple.ts";
import { RecentCheckpoints } from "./recent-checkpoints.ts";
import { SafeSerializer } from "./safe-serializer.ts";
import { type EncryptionOptions, Seal } from "./seal.ts";
import { ValueStore } from "./value-store.ts";

/** Settings of a {@link WaypointSaver}. */
export interface SaverOptions {
  /** How values become bytes. @defaultValue a {@link SafeSerializer} */
  serde?: SerializerProtocol;
  /** Encrypts all values, and what checkpoints say of them. @defaultValue none */
  encryption?: EncryptionOptions;
}

/** What the parts of a saver share. */
export interface SaverTools extends RecordTools {
  recent: RecentCheckpoints;
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
    this.#tools = { records, values, seal, recent: new RecentCheckpoints() };
  }

  /** @throws USAGE_INVALID, STORE_FAILED, STORE_KEY_MISSING, FORMAT_TOO_NEW, STORE_UNREACHABLE */
  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (config.configurable?.["thread_id"] === undefined) return undefined;
    const { thread, namespace, id } = placeOfConfig(config);
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
    await putCheckpoint(this.#tools, at, { checkpoint, metadata, newVersions });
    return configOf(thread, namespace, checkpoint.id);
  }

  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
  ): Promise<void> {
    await putWrites(this.#tools, placeOfConfig(config), writes, taskId);
  }

  override async deleteThread(threadId: string): Promise<void> {
    this.#tools.recent.forget(threadId);
    await this.#tools.records.deleteThread(threadId);
  }

  /** Of each channel the writes on the way to the checkpoint, not those of other branches. */
  override async getDeltaChannelHistory(options: { config: RunnableConfig; channels: string[] }) {
    const { thread, namespace, id } = placeOfConfig(options.config);
    return await readDeltaHistory(this.#tools, { thread, namespace, id }, options.channels);
  }

  /** Closes the store. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tools.records[Symbol.asyncDispose]();
  }
}
