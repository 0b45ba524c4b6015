/** With more stories than this to be built, whoever wants to see all does not wait. */
const BACKLOG_WAITED_FOR_MAX = 4;

/** What the queue knows of one story that is not built yet. */
interface Waiting {
  id: string;
  build: (signal: AbortSignal) => Promise<void>;
  done: PromiseWithResolvers<void>;
}

/**
 * Builds stories one after the other, behind everything else that the daemon does.
 *
 * A story that somebody waits for goes first. Nothing here rejects: `build` reports its failures.
 */
export class StoryQueue {
  readonly #waiting: Waiting[] = [];
  #current: (Waiting & { controller: AbortController }) | undefined;
  #isStopped = false;

  /** Nothing is built any more. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Asks for the story of a checkpoint; once, however often it is asked for. */
  schedule(id: string, build: Waiting["build"]): void {
    if (this.#isStopped || this.#find(id) !== undefined) return;
    this.#waiting.push({ id, build, done: Promise.withResolvers() });
    void this.#run();
  }

  /** Resolves when the story of a checkpoint is no longer asked for, or after `timeoutMs`. */
  async ready(id: string, timeoutMs: number): Promise<void> {
    const found = this.#find(id);
    if (found === undefined) return;
    const index = this.#waiting.indexOf(found);
    if (index > 0) this.#waiting.unshift(...this.#waiting.splice(index, 1));
    await atMost(timeoutMs, found.done.promise);
  }

  /** Resolves when the last few stories are built, or after `timeoutMs`; at once with a backlog. */
  async caughtUp(timeoutMs: number): Promise<void> {
    if (this.#waiting.length > BACKLOG_WAITED_FOR_MAX) return;
    const last = this.#waiting.at(-1) ?? this.#current;
    if (last !== undefined) await atMost(timeoutMs, last.done.promise);
  }

  /** Gives up the story of a checkpoint that is being removed; resolves when nothing reads it. */
  async cancel(id: string): Promise<void> {
    const index = this.#waiting.findIndex((waiting) => waiting.id === id);
    if (index !== -1) this.#waiting.splice(index, 1)[0]?.done.resolve();
    if (this.#current?.id !== id) return;
    this.#current.controller.abort();
    await this.#current.done.promise;
  }

  /** Gives up everything; the next daemon builds what is missing. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const { done } of this.#waiting.splice(0)) done.resolve();
    this.#current?.controller.abort();
    await this.#current?.done.promise;
  }

  #find(id: string): Waiting | undefined {
    return this.#current?.id === id
      ? this.#current
      : this.#waiting.find((waiting) => waiting.id === id);
  }

  async #run(): Promise<void> {
    if (this.#current !== undefined) return;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.#current = { ...next, controller: new AbortController() };
      try {
        await next.build(this.#current.controller.signal);
      } finally {
        this.#current = undefined;
        next.done.resolve();
      }
    }
  }
}

async function atMost(timeoutMs: number, work: Promise<void>): Promise<void> {
  const timeout = Promise.withResolvers<void>();
  const timer = setTimeout(timeout.resolve, timeoutMs);
  await Promise.race([work, timeout.promise]);
  clearTimeout(timer);
}
