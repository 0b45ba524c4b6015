import type {
  Change,
  ScanOptions,
  ThreadRecord,
  ThreadRecords,
  WriteConditions,
  WriteResult,
} from "./thread-records.ts";

interface Thread {
  revision: number;
  values: Map<string, Uint8Array>;
  /** Sorted; null where keys have come since. */
  keys: string[] | null;
}

/** Records in memory: gone with the program. */
export class MemoryRecords implements ThreadRecords {
  readonly #threads = new Map<string, Thread>();

  async write(
    name: string,
    changes: readonly Change[],
    { requires, ifRevision }: WriteConditions = {},
  ): Promise<WriteResult> {
    const known = this.#threads.get(name);
    const isOther = ifRevision !== undefined && (known?.revision ?? 0) !== ifRevision;
    if (isOther || (requires !== undefined && known?.values.has(requires) !== true)) {
      return { isDone: false, kept: [] };
    }
    const thread = known ?? { revision: 0, values: new Map(), keys: [] };
    this.#threads.set(name, thread);
    thread.revision += 1;
    return { isDone: true, kept: changes.filter((each) => !apply(thread, each)).map(keyOf) };
  }

  async read(name: string, keys: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    const values = this.#threads.get(name)?.values;
    const found = new Map<string, Uint8Array>();
    for (const key of keys) {
      const value = values?.get(key);
      if (value !== undefined) found.set(key, value);
    }
    return found;
  }

  async scan(name: string, options: ScanOptions): Promise<readonly ThreadRecord[]> {
    const thread = this.#threads.get(name);
    if (thread === undefined) return [];
    thread.keys ??= [...thread.values.keys()].sort();
    const { prefix, limit, isReverse = false, isKeysOnly = false } = options;
    const from = firstAtLeast(thread.keys, prefix);
    const inside = thread.keys
      .slice(from, firstAtLeast(thread.keys, `${prefix}\u{7f}`))
      .filter((key) => key > (options.after ?? "") && (options.before ?? "\u{7f}") > key);
    if (isReverse) inside.reverse();
    const none = new Uint8Array();
    return inside.slice(0, limit).map((key) => {
      return { key, value: isKeysOnly ? none : (thread.values.get(key) ?? none) };
    });
  }

  async revision(name: string): Promise<number> {
    return this.#threads.get(name)?.revision ?? 0;
  }

  async threads({ after, limit }: { after?: string; limit: number }): Promise<readonly string[]> {
    const names = [...this.#threads.keys()].sort((one, other) =>
      Buffer.compare(Buffer.from(one), Buffer.from(other)),
    );
    const isAfter = (name: string) =>
      after === undefined || Buffer.compare(Buffer.from(name), Buffer.from(after)) > 0;
    return names.filter(isAfter).slice(0, limit);
  }

  async deleteThread(name: string): Promise<void> {
    this.#threads.delete(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#threads.clear();
  }
}

/** Returns false where another one stays that was first. */
function apply(thread: Thread, { key, value, mode = "replace" }: Change): boolean {
  const there = thread.values.get(key);
  if (value === null) {
    if (thread.values.delete(key)) thread.keys = null;
    return true;
  }
  if (there !== undefined && mode !== "replace") {
    return mode === "content" || Buffer.compare(there, value) === 0;
  }
  if (there === undefined) thread.keys = null;
  thread.values.set(key, Uint8Array.from(value));
  return true;
}

function keyOf({ key }: Change): string {
  return key;
}

function firstAtLeast(sorted: readonly string[], key: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
