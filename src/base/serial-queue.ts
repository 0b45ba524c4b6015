/**
 * Runs tasks of one key one after the other, and tasks of different keys side by side.
 *
 * A failing task does not stop those behind it.
 */
export class SerialQueues {
  #tails = new Map<string, Promise<unknown>>();

  /** Runs `task` when all earlier tasks of `key` have ended, and returns its outcome. */
  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const mine = before.then(task, task);
    const settled = mine.catch(() => {});
    this.#tails.set(key, settled);
    try {
      return await mine;
    } finally {
      if (this.#tails.get(key) === settled) this.#tails.delete(key);
    }
  }

  /** Tells whether a task of `key` runs or waits. */
  isBusy(key: string): boolean {
    return this.#tails.has(key);
  }

  /** Resolves when every task known now has ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#tails.values());
  }
}
