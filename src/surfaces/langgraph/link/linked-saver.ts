import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { type LinkedStep, tellStep } from "./link-history.ts";
import type { ChosenOptions } from "./link-options.ts";
import {
  doneTasks,
  earlier,
  type Link,
  linkOf,
  nestedWrites,
  restWrites,
  withLink,
  withoutRest,
} from "./link-record.ts";
import type { LinkableSession } from "./linkable-session.ts";
import { requireSameProcesses } from "./move-machine.ts";
import { capture, linkOfStep, type Position } from "./position.ts";
import { prepareRun } from "./prepare-run.ts";
import {
  checkpointIdOf,
  configOf,
  keeperOf,
  namespaceOf,
  nestedElsewhere,
  nodeRunOf,
  requireSync,
  runOf,
  threadOf,
} from "./run-config.ts";
import { listUnmarked, overtaken, RunMarks } from "./run-marks.ts";
import { ThreadSessions } from "./thread-sessions.ts";
import { hasToolResult, ranOf } from "./tool-results.ts";
import { UpdateLinks } from "./update-links.ts";

/** What {@link linkSession} makes of a saver: the same one, each of whose checkpoints has its machine. */
export class LinkedSaver<S extends LinkableSession = LinkableSession> extends BaseCheckpointSaver {
  /** The saver that keeps the graph's checkpoints. */
  readonly saver: BaseCheckpointSaver;
  readonly #options: ChosenOptions<S>;
  readonly #sessions: ThreadSessions<S>;
  readonly #positions = new Map<string, Position<S>>();
  readonly #updates: UpdateLinks;
  readonly #marks: RunMarks;

  /** Not for callers: `linkSession` makes them. */
  constructor(saver: BaseCheckpointSaver, session: S, options: ChosenOptions<S>) {
    super(saver.serde);
    this.saver = saver;
    this.#options = options;
    this.#marks = new RunMarks(saver);
    this.#sessions = new ThreadSessions(saver, session, { options, marks: this.#marks });
    this.#updates = new UpdateLinks(saver, (link) => this.#sessions.of(link));
  }

  /**
   * Returns a checkpoint. Where a run of a graph asks, the machine is brought to it first; any other
   * reader moves nothing.
   *
   * @throws GRAPH_NOT_SYNC  the run does not wait for its checkpoints.
   * @throws GRAPH_CONFLICT | GRAPH_MACHINE_GONE
   */
  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const run = runOf(config);
    if (run === undefined) return withoutRest(await this.saver.getTuple(config));
    requireSync(config);
    return await this.#begin(config, run);
  }

  /**
   * Brings the machine to where a run with this config would begin, and returns that checkpoint. A run
   * does so by itself; this is for who looks at the machine first.
   */
  async prepare(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return await this.#begin(config, undefined);
  }

  /**
   * Returns the session of a config's thread: what its tools have to work in.
   *
   * @throws GRAPH_CONFLICT  a node asks whose run another one has overtaken.
   * @throws USAGE_INVALID  a node asks whose graph keeps its checkpoints elsewhere.
   */
  async sessionOf(config: RunnableConfig): Promise<S> {
    const thread = threadOf(config);
    this.#requireOwnGraph(config);
    const position = this.#positions.get(thread);
    const run = nodeRunOf(config);
    if (run !== undefined && run !== position?.run) throw overtaken(thread);
    if (position !== undefined) return position.session;
    return await this.#sessions.of(linkOf(await this.saver.getTuple(configOf(thread))));
  }

  /** Returns checkpoints, newest first. */
  override async *list(
    config: RunnableConfig,
    options?: CheckpointListOptions,
  ): AsyncGenerator<CheckpointTuple> {
    for await (const tuple of listUnmarked(this.saver, config, options)) yield withoutRest(tuple);
  }

  /**
   * Returns checkpoints with what each step changed on the machine, newest first: those of the graph
   * itself, unless the config names a subgraph's namespace.
   */
  async *history(
    config: RunnableConfig,
    options?: CheckpointListOptions,
  ): AsyncGenerator<LinkedStep<S>> {
    const sessionOf = (link: Link) => this.#sessions.of(link);
    const configurable = { checkpoint_ns: "", ...config.configurable };
    for await (const tuple of this.list({ ...config, configurable }, options)) {
      yield await tellStep(tuple, sessionOf);
    }
  }

  /**
   * Keeps a checkpoint. At the end of a step the machine is captured first, as the policy has it: what is
   * left of a step that ends in between is a checkpoint of the machine which no step has.
   *
   * @throws GRAPH_CONFLICT  another run has begun on the thread, and moved the machine.
   * @throws GRAPH_MACHINE_MOVED  somebody else has moved it.
   * @throws USAGE_INVALID  the graph runs inside a node of a graph whose checkpoints are kept elsewhere.
   */
  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const run = metadata.source === "update" ? undefined : runOf(config);
    if (run === undefined) {
      const isRun = metadata.source === "input" || metadata.source === "loop";
      if (isRun) this.#requireOwnGraph(config);
      const link = await this.#linkOutsideRun(config, checkpoint, metadata);
      return await this.saver.put(config, checkpoint, withLink(metadata, link), newVersions);
    }
    const position = this.#positionOf(config, run);
    const link = await linkOfStep(position, { checkpoint, metadata }, this.#options);
    await position.writing;
    await this.#requireUndisturbed(config, position);
    const put = await this.saver.put(config, checkpoint, withLink(metadata, link), newVersions);
    Object.assign(position, {
      link,
      checkpointId: checkpoint.id,
      isLeft: false,
      nestedIn: undefined,
    });
    if (link.taken) {
      position.hasToolRun = false;
      position.ran = ranOf(checkpoint, this.#options.toolNodes);
    }
    return put;
  }

  /** Keeps what a task has written; where the step was interrupted, with the machine as it was left. */
  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
  ): Promise<void> {
    const run = runOf(config);
    if (run === undefined) {
      if (namespaceOf(config) === "") this.#updates.note(config, taskId);
      await this.saver.putWrites(config, writes, taskId);
      return;
    }
    const thread = threadOf(config);
    const position = this.#positions.get(thread);
    if (position?.run !== run) throw overtaken(thread);
    // The end of the step does not wait for this: it is noted before anything is awaited.
    if (hasToolResult(writes)) position.hasToolRun = true;
    if (writes.some(([channel]) => channel === "__interrupt__")) position.isLeft = true;
    const kept = this.#keepWrites(config, position, { writes, taskId });
    position.writing = Promise.allSettled([position.writing, kept]);
    await kept;
  }

  /** Deletes a thread and lets its session go, which stays with all its checkpoints. */
  override async deleteThread(threadId: string): Promise<void> {
    const position = this.#positions.get(threadId);
    const link = position?.link ?? linkOf(await this.saver.getTuple(configOf(threadId)));
    await this.saver.deleteThread(threadId);
    this.#positions.delete(threadId);
    if (link !== undefined) await this.#sessions.release(threadId, link);
  }

  override async getDeltaChannelHistory(
    options: Parameters<BaseCheckpointSaver["getDeltaChannelHistory"]>[0],
  ): ReturnType<BaseCheckpointSaver["getDeltaChannelHistory"]> {
    return await this.saver.getDeltaChannelHistory(options);
  }

  override getNextVersion(current: number | undefined): number {
    return this.saver.getNextVersion(current);
  }

  async #begin(config: RunnableConfig, run: unknown): Promise<CheckpointTuple | undefined> {
    const { saver } = this;
    const parts = { saver, sessions: this.#sessions, options: this.#options };
    const mark = await this.#marks.begin(threadOf(config));
    const { tuple, session, link } = await prepareRun(config, parts);
    const { pid } = await session.info();
    this.#positions.set(threadOf(config), {
      ...{ run, mark, pid, session, link, checkpointId: tuple?.checkpoint.id },
      ...{ hasToolRun: false, isLeft: false, nestedIn: undefined, writing: undefined },
      ran: ranOf(tuple?.checkpoint, this.#options.toolNodes),
    });
    return withoutRest(tuple);
  }

  #positionOf(config: RunnableConfig, run: unknown): Position<S> {
    const thread = threadOf(config);
    const position = this.#positions.get(thread);
    const isOwn = position?.run === run && position?.checkpointId === checkpointIdOf(config);
    if (position !== undefined && isOwn) return position;
    throw overtaken(thread);
  }

  /** Checks that what was captured is the run's own: whoever comes later finds it captured. */
  async #requireUndisturbed(config: RunnableConfig, { session, mark, pid }: Position<S>) {
    await this.#marks.requireNewest(threadOf(config), mark);
    await requireSameProcesses(session, pid);
  }

  /** Checks that what runs inside a node runs in a graph, and a thread, that has its machine. */
  #requireOwnGraph(config: RunnableConfig): void {
    if (nodeRunOf(config) === undefined) return;
    if (keeperOf(config) !== this || !this.#positions.has(threadOf(config)))
      throw nestedElsewhere();
  }

  async #keepWrites(
    config: RunnableConfig,
    position: Position<S>,
    { writes, taskId }: { writes: PendingWrite[]; taskId: string },
  ): Promise<void> {
    await this.#marks.requireNewest(threadOf(config), position.mark);
    await this.saver.putWrites(config, writes, taskId);
    if (position.isLeft) await this.#noteRest(config, position);
  }

  /** What was done is read before the capture: whatever is over then, the machine has. */
  async #noteRest(config: RunnableConfig, position: Position<S>): Promise<void> {
    const tuple = await this.saver.getTuple(config);
    const tasks = tuple === undefined ? [] : doneTasks(tuple);
    const link = await capture(position, "graph interrupted", this.#options);
    await this.#requireUndisturbed(config, position);
    const { task, writes } = restWrites(link, tasks);
    await this.saver.putWrites(config, writes, task);
    position.nestedIn = undefined;
  }

  /** A subgraph's checkpoint has the machine of the graph's step that it runs in. */
  async #linkOutsideRun(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    { source, parents }: CheckpointMetadata,
  ) {
    const thread = config.configurable?.["thread_id"] as string | undefined;
    if (thread === undefined) return undefined;
    if (namespaceOf(config) === "") return await this.#updates.linkOf(config, checkpoint, source);
    const position = this.#positions.get(thread);
    if (position === undefined) return undefined;
    // The graph's own checkpoint may still be on its way here.
    const root = parents?.[""];
    if (root !== undefined && root !== position.nestedIn) {
      const { task, writes } = nestedWrites();
      await this.saver.putWrites(configOf(thread, root), writes, task);
      position.nestedIn = root;
    }
    return earlier(position.link);
  }
}
