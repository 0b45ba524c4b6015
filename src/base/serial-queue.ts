import { deferred } from "./deferred.ts";

/**
 * Runs tasks of one key one after the other, and tasks of different keys side by side.
 *
 * A failing task does not stop those behind it.
 */
export class SerialQueues {
  #tails = new Map<string, Promise<unknown>>();
  /** What cancels the task of a key that runs. */
  #signals = new Map<string, AbortSignal>();
  readonly #onEnded: () => void;
  readonly #onAsked: () => void;

  /**
   * @param onEnded  is called after each task, however it ended.
   * @param onAsked  is called for each task when it is asked for.
   */
  constructor(onEnded: () => void = () => {}, onAsked: () => void = () => {}) {
    this.#onEnded = onEnded;
    this.#onAsked = onAsked;
  }

  /**
   * Runs `task` when all earlier tasks of `key` have ended, and returns its outcome.
   *
   * @param signal  leaves the queue when it is aborted, and rejects with its reason; a task that has
   * begun asks for it with {@link throwIfCancelled}.
   */
  async run<T>(key: string, task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    this.#onAsked();
    const before = this.#tails.get(key) ?? Promise.resolve();
    let hasBegun = false;
    const begin = () => {
      signal?.throwIfAborted();
      hasBegun = true;
      return signal === undefined ? task() : this.#runCancellable(key, task, signal);
    };
    const mine = before.then(begin, begin);
    const settled = mine.catch(() => {});
    this.#tails.set(key, settled);
    void settled.then(() => {
      if (this.#tails.get(key) === settled) this.#tails.delete(key);
      this.#onEnded();
    });
    if (signal === undefined) return await mine;
    const left = deferred<never>();
    const onAbort = () => {
      if (!hasBegun) left.reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    // It may have been aborted before anybody listened.
    if (signal.aborted) onAbort();
    try {
      return await Promise.race([mine, left.promise]);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /**
   * Throws the reason when whoever waits for the task that runs has cancelled it.
   *
   * For a task to ask where it can still be undone.
   */
  throwIfCancelled(key: string): void {
    this.#signals.get(key)?.throwIfAborted();
  }

  /** Tells whether the task that runs was cancelled. */
  isCancelled(key: string): boolean {
    return this.#signals.get(key)?.aborted === true;
  }

  /** Tells whether a task of `key` runs or waits. */
  isBusy(key: string): boolean {
    return this.#tails.has(key);
  }

  /** Resolves when every task known now has ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#tails.values());
  }

  async #runCancellable<T>(key: string, task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    this.#signals.set(key, signal);
    try {
      return await task();
    } finally {
      this.#signals.delete(key);
    }
  }
}
