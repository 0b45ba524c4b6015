/** With more stories than this to be built, whoever wants to see all does not wait. */
const BACKLOG_WAITED_FOR_MAX = 4;

/** What the queue knows of one story that is not built yet. */
interface Waiting {
  id: string;
  build: (signal: AbortSignal, reads: (checkpointIds: readonly string[]) => void) => Promise<void>;
  done: PromiseWithResolvers<void>;
}

/** The one that is being built. */
interface Current extends Waiting {
  controller: AbortController;
  /** It is to be built again: what it read is about to change. */
  isInterrupted: boolean;
  /** The checkpoints that it may read; `undefined` while it has not said. */
  reads: ReadonlySet<string> | undefined;
  ended: PromiseWithResolvers<void>;
}

/**
 * Builds stories one after the other, behind everything else that the daemon does.
 *
 * A story that somebody waits for goes first. Nothing here rejects: `build` reports its failures.
 */
export class StoryQueue {
  readonly #waiting: Waiting[] = [];
  #current: Current | undefined;
  /** Works beside which no story is begun. */
  #holders = 0;
  #isStopped = false;

  /** Nothing is built any more. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /**
   * Asks for the story of a checkpoint; once, however often it is asked for.
   *
   * @param build  is to say what it reads before it does: {@link whileNotRead} gives up what has not said so.
   */
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
    this.#current.isInterrupted = false;
    this.#current.controller.abort();
    await this.#current.ended.promise;
  }

  /**
   * Runs `work` while no story reads any of these checkpoints, such as their removal; one that did begins anew
   * afterwards. Another one goes on: a long one would never end where checkpoints are removed all the time.
   */
  async whileNotRead<T>(checkpointIds: readonly string[], work: () => Promise<T>): Promise<T> {
    this.#holders += 1;
    try {
      const current = this.#current;
      if (current !== undefined && mayRead(current, checkpointIds)) {
        current.isInterrupted = true;
        current.controller.abort();
        await current.ended.promise;
      }
      return await work();
    } finally {
      this.#holders -= 1;
      void this.#run();
    }
  }

  /** Gives up everything; the next daemon builds what is missing. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const { done } of this.#waiting.splice(0)) done.resolve();
    this.#current?.controller.abort();
    await this.#current?.ended.promise;
  }

  #find(id: string): Waiting | undefined {
    return this.#current?.id === id
      ? this.#current
      : this.#waiting.find((waiting) => waiting.id === id);
  }

  async #run(): Promise<void> {
    if (this.#current !== undefined) return;
    while (this.#holders === 0) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      await this.#build(next);
    }
  }

  async #build(next: Waiting): Promise<void> {
    const controller = new AbortController();
    const ended = Promise.withResolvers<void>();
    const current: Current = {
      ...{ ...next, controller, ended },
      ...{ isInterrupted: false, reads: undefined },
    };
    this.#current = current;
    try {
      await next.build(controller.signal, (ids) => {
        current.reads = new Set(ids);
      });
    } finally {
      this.#current = undefined;
      if (current.isInterrupted && !this.#isStopped) this.#waiting.unshift(next);
      else next.done.resolve();
      ended.resolve();
    }
  }
}

function mayRead({ reads }: Current, checkpointIds: readonly string[]): boolean {
  return reads === undefined || checkpointIds.some((id) => reads.has(id));
}

async function atMost(timeoutMs: number, work: Promise<void>): Promise<void> {
  const timeout = Promise.withResolvers<void>();
  const timer = setTimeout(timeout.resolve, timeoutMs);
  await Promise.race([work, timeout.promise]);
  clearTimeout(timer);
}
