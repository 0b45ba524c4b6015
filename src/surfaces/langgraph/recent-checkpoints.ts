import type { Change } from "../../portable/records/index.ts";
import type { CheckpointRecord } from "./checkpoint-record.ts";

/** The writes that a task has handed over below a checkpoint. */
export interface RecentWrites {
  /** Known once they are encoded. */
  set: Promise<string>;
  /** What keeps the objects that they need, by their ids, while it is on its way to the store. */
  sent: ReadonlyMap<string, Change>;
  /** The objects that they need; none before they have reached the store. */
  keptIds: ReadonlySet<string>;
}

/** What this program knows of a checkpoint that it has worked with. */
export interface RecentCheckpoint {
  /** Null where its writes came first. */
  record: CheckpointRecord | null;
  /** The ids of all objects of each channel's value, where this program made them. */
  ids: ReadonlyMap<string, ReadonlySet<string>>;
  /** Whether this program put it: then all writes below it are in `writes`. */
  isOwn: boolean;
  /** What came since a child was put, by the task's id. */
  writes: Map<string, RecentWrites>;
}

const ENTRIES_MAX = 200;

/** The checkpoints worked with last: a put need not ask for what its parent has. */
export class RecentCheckpoints {
  readonly #entries = new Map<string, RecentCheckpoint>();

  get(thread: string, namespace: string, id: string): RecentCheckpoint | undefined {
    return this.#entries.get(JSON.stringify([thread, namespace, id]));
  }

  /** Returns the entry, made where there is none, as the one worked with last. */
  touch(thread: string, namespace: string, id: string): RecentCheckpoint {
    const key = JSON.stringify([thread, namespace, id]);
    const entry = this.#entries.get(key) ?? {
      record: null,
      ids: new Map(),
      isOwn: false,
      writes: new Map(),
    };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= ENTRIES_MAX) break;
      this.#entries.delete(oldest);
    }
    return entry;
  }

  /** Forgets all that is known of a thread. */
  forget(thread: string): void {
    for (const key of this.#entries.keys()) {
      if ((JSON.parse(key) as string[])[0] === thread) this.#entries.delete(key);
    }
  }
}
