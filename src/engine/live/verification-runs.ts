import type { CheckpointRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";

/** Forks at once, of all callers together: each has a network, a mount and a process tree. */
const RUNS_MAX = 16;
/** What a fork needs beside its pages. */
const OVERHEAD_BYTES = 8 * 1024 * 1024;

/** Of its memory a fork in which one command is run touches less, as a rule. */
const TOUCHED_SHARE = 0.25;

/** What {@link VerificationRuns} needs to know of the machine. */
interface MemoryFacts {
  /** Memory that stays available while several run at once. */
  reserveBytes: number;
  /** Memory that can be used now. */
  availableBytes: () => number;
}

/** One command that is to be run against a checkpoint, or runs. */
interface Run {
  checkpointId: string;
  neededBytes: number;
  controller: AbortController;
  /** The removal of its forks, until whose end it counts. */
  clearing: Promise<unknown>;
  done: PromiseWithResolvers<void>;
}

/** What a run is given. */
export interface RunHandle {
  /** Aborted when its caller gives up, its checkpoint is being removed, or the daemon ends. */
  signal: AbortSignal;
  /** Names a fork whose removal its caller does not wait for, but the end of all runs. */
  leaves: (cleared: Promise<unknown>) => void;
  /**
   * Says that the fork is there, and what it has of its memory the machine counts by itself from now on.
   *
   * @param isLazy  it gets the rest as it touches it: {@link TOUCHED_SHARE} stays promised.
   */
  isThere: (isLazy: boolean) => void;
}

/**
 * The commands that are being run against checkpoints: so many at once as there is memory for.
 *
 * They come in the order in which they were asked for.
 */
export class VerificationRuns {
  readonly #facts: MemoryFacts;
  readonly #running = new Set<Run>();
  readonly #waiting: { run: Run; start: () => void }[] = [];
  #isStopped = false;

  constructor(facts: MemoryFacts) {
    this.#facts = facts;
  }

  /**
   * Runs `task` when there is room for a fork of the checkpoint, and resolves with its outcome. What it
   * leaves to be cleared away counts as one of those that run.
   *
   * @throws CANCELLED             `signal` was aborted, or the daemon ends.
   * @throws CHECKPOINT_NOT_FOUND  the checkpoint was removed meanwhile.
   * @throws MEMORY_SHORT          there is too little memory even for this one alone.
   */
  async run<T>(
    checkpoint: Pick<CheckpointRow, "id" | "memoryBytes">,
    signal: AbortSignal,
    task: (handle: RunHandle) => Promise<T>,
  ): Promise<T> {
    const run: Run = {
      checkpointId: checkpoint.id,
      neededBytes: checkpoint.memoryBytes + OVERHEAD_BYTES,
      controller: new AbortController(),
      clearing: Promise.resolve(),
      done: Promise.withResolvers(),
    };
    const onAbort = () => run.controller.abort(cancelled());
    signal.addEventListener("abort", onAbort, { once: true });
    if (this.#isStopped) run.controller.abort(stopped());
    else if (signal.aborted) onAbort();
    try {
      await this.#start(run);
      run.controller.signal.throwIfAborted();
      this.#requireMemory(run);
      const handle: RunHandle = {
        signal: run.controller.signal,
        isThere: (isLazy) => {
          run.neededBytes = isLazy ? checkpoint.memoryBytes * TOUCHED_SHARE : 0;
          this.#startMore();
        },
        leaves: (cleared: Promise<unknown>) => {
          run.clearing = Promise.allSettled([run.clearing, cleared]);
        },
      };
      return await task(handle);
    } finally {
      signal.removeEventListener("abort", onAbort);
      // Its processes have ended.
      run.neededBytes = 0;
      this.#startMore();
      const over = () => {
        this.#running.delete(run);
        run.done.resolve();
        this.#startMore();
      };
      void run.clearing.then(over, over);
    }
  }

  /** Gives up what runs against a checkpoint that is being removed; resolves when nothing does. */
  async cancel(checkpointId: string): Promise<void> {
    const reason = new WaypointError(
      "CHECKPOINT_NOT_FOUND",
      `Checkpoint ${checkpointId} was removed while it was being verified.`,
    );
    await this.#abort(({ run }) => run.checkpointId === checkpointId, reason);
  }

  /** Gives up everything, for the end of the daemon; resolves when no fork is left. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#abort(() => true, stopped());
  }

  async #abort(isMeant: (entry: { run: Run }) => boolean, reason: WaypointError): Promise<void> {
    const all = [...this.#waiting.map(({ run }) => run), ...this.#running];
    const meant = all.filter((run) => isMeant({ run }));
    for (const { controller } of meant) controller.abort(reason);
    await Promise.all(meant.map(({ done }) => done.promise));
  }

  /** Resolves when it is this run's turn. */
  async #start(run: Run): Promise<void> {
    const { signal } = run.controller;
    signal.throwIfAborted();
    const started = Promise.withResolvers<void>();
    const entry = { run, start: started.resolve };
    const onAbort = () => {
      const index = this.#waiting.indexOf(entry);
      if (index !== -1) this.#waiting.splice(index, 1);
      started.reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    this.#waiting.push(entry);
    this.#startMore();
    await started.promise;
    signal.removeEventListener("abort", onAbort);
  }

  #startMore(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (!this.#hasRoomFor(next.run)) return;
      this.#waiting.shift();
      this.#running.add(next.run);
      next.start();
    }
  }

  /** One alone is always let in: {@link #requireMemory} says what is wrong then. */
  #hasRoomFor({ neededBytes }: Run): boolean {
    if (this.#running.size === 0) return true;
    if (this.#running.size >= RUNS_MAX) return false;
    const promisedBytes = [...this.#running].reduce((sum, run) => sum + run.neededBytes, 0);
    const leftBytes = this.#facts.availableBytes() - promisedBytes - neededBytes;
    return leftBytes >= this.#facts.reserveBytes;
  }

  #requireMemory({ neededBytes, checkpointId }: Run): void {
    const leftBytes = this.#facts.availableBytes();
    if (leftBytes >= neededBytes) return;
    const [needed, left] = [neededBytes, leftBytes].map((bytes) => Math.round(bytes / 1024 ** 2));
    throw new WaypointError(
      "MEMORY_SHORT",
      `A fork of checkpoint ${checkpointId} needs ${needed} MiB of memory; ${left} MiB are left.`,
      { hint: "End something, then try again: `waypoint ls` shows what each session uses." },
    );
  }
}

function cancelled(): WaypointError {
  return new WaypointError("CANCELLED", "The verification was given up; nothing is recorded.");
}

function stopped(): WaypointError {
  return new WaypointError("CANCELLED", "The daemon was stopped; this verification was given up.", {
    hint: "Repeat the command, which starts the daemon again.",
  });
}
