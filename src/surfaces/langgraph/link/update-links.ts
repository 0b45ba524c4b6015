import type { RunnableConfig } from "@langchain/core/runnables";
import type {
  BaseCheckpointSaver,
  Checkpoint,
  CheckpointMetadata,
} from "@langchain/langgraph-checkpoint";
import { doneTasks, earlier, type Link, linkOf, restOf } from "./link-record.ts";
import type { LinkableSession } from "./linkable-session.ts";
import { checkpointIdOf, configOf, threadOf } from "./run-config.ts";

/** Updates that have written and not put yet. */
const UPDATES_MAX = 100;

/** The machines of checkpoints that no run makes, but `updateState`. */
export class UpdateLinks {
  readonly #saver: BaseCheckpointSaver;
  readonly #sessionOf: (link: Link) => Promise<LinkableSession>;
  /** Tasks under which an update writes to the checkpoint that it changes: no node has done them. */
  readonly #tasks = new Map<string, Set<string>>();

  constructor(saver: BaseCheckpointSaver, sessionOf: (link: Link) => Promise<LinkableSession>) {
    this.#saver = saver;
    this.#sessionOf = sessionOf;
  }

  /** Notes that an update has written. */
  note(config: RunnableConfig, task: string): void {
    const id = checkpointIdOf(config) ?? "";
    const tasks = this.#tasks.get(id) ?? new Set();
    this.#tasks.set(id, tasks.add(task));
    const [oldest] = this.#tasks.keys();
    if (this.#tasks.size > UPDATES_MAX && oldest !== undefined) this.#tasks.delete(oldest);
  }

  /** Returns the machine of a checkpoint that is about to be put: that of what it comes from. */
  async linkOf(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    source: CheckpointMetadata["source"],
  ): Promise<Link | undefined> {
    const thread = threadOf(config);
    const parentId = checkpointIdOf(config);
    const tasksOfUpdate = this.#tasks.get(parentId ?? "");
    this.#tasks.delete(parentId ?? "");
    if (source === "fork") return await this.#linkOfCopied(thread, parentId, checkpoint);
    if (parentId === undefined) return undefined;
    const parent = await this.#saver.getTuple(configOf(thread, parentId));
    const link = linkOf(parent);
    if (parent === undefined || link === undefined) return undefined;
    const newest = await this.#saver.getTuple(configOf(thread));
    if (newest?.checkpoint.id !== parentId) return earlier(link);
    const rest = restOf(parent);
    if (rest !== undefined) return earlier(rest);
    const hasWork = doneTasks(parent).some((task) => !tasksOfUpdate?.has(task));
    return hasWork ? await this.#linkOfWork(link) : earlier(link);
  }

  /** A copy has the parent of what it copies, and the same channels. */
  async #linkOfCopied(
    thread: string,
    parentId: string | undefined,
    { channel_versions }: Checkpoint,
  ): Promise<Link | undefined> {
    const versions = JSON.stringify(channel_versions);
    for await (const tuple of this.#saver.list(configOf(thread))) {
      const parent: unknown = tuple.parentConfig?.configurable?.["checkpoint_id"];
      const link = linkOf(tuple);
      if (link === undefined || (parent ?? undefined) !== parentId) continue;
      if (JSON.stringify(tuple.checkpoint.channel_versions) === versions) return earlier(link);
    }
    return undefined;
  }

  /** An update takes over what was done in a step that failed: so it has the machine with that work. */
  async #linkOfWork(link: Link): Promise<Link> {
    const session = await this.#sessionOf(link);
    const { head, state } = await session.info();
    if (head !== link.checkpoint || state !== "running") return earlier(link);
    const { id } = await session.checkpoint({ intent: "graph state updated", ifChanged: true });
    return { ...link, checkpoint: id, taken: id !== link.checkpoint };
  }
}
