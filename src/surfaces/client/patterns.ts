import { WaypointError } from "../../shared/errors/index.ts";
import { cancelled } from "./cancelled.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { CheckpointOptions } from "./options.ts";
import type { Session } from "./session.ts";

/** Work on a session of its own. */
export type Strategy<T> = (session: Session) => Promise<T>;

/** How strategies are compared. */
export interface BestOfOptions<T> {
  /** Says how good an outcome is: the highest wins, the first of equals. */
  score: (outcome: T, session: Session) => number | Promise<number>;
  /** Forks that run at once. @defaultValue all */
  concurrency?: number;
  /** Ends it: no fork is left then. */
  signal?: AbortSignal;
}

/** The strategy that won. */
export interface Winner<T> {
  /** Its fork, which goes on, and gets all of its memory while nobody waits. */
  session: Session;
  /** Which strategy it was, from 0 on. */
  index: number;
  outcome: T;
  score: number;
}

/**
 * Checkpoints a session, runs `work`, and puts the session back when it throws.
 *
 * **On failure** of `work` its error is thrown when the session is back; where that fails, too, an
 * `AggregateError` has both, and the checkpoint is there still.
 */
export async function attempt<T>(
  session: Session,
  work: (checkpoint: Checkpoint) => Promise<T>,
  options: CheckpointOptions = {},
): Promise<T> {
  const checkpoint = await session.checkpoint(options);
  try {
    return await work(checkpoint);
  } catch (error) {
    await session.restore(checkpoint).catch((notRestored: unknown) => {
      const message = `The work failed, and session ${session.name} is not back at ${checkpoint.id}.`;
      throw new AggregateError([error, notRestored], message);
    });
    throw error;
  }
}

/**
 * Runs strategies from one checkpoint, each in a fork of its own, keeps the fork of the best one, and
 * removes the others. A strategy that throws has lost.
 *
 * **On failure** no fork is left.
 *
 * @throws USAGE_INVALID  there is no strategy.
 * @throws AggregateError  all of them threw.
 */
export async function bestOf<T>(
  checkpoint: Checkpoint,
  strategies: readonly Strategy<T>[],
  { score, concurrency = strategies.length, signal }: BestOfOptions<T>,
): Promise<Winner<T>> {
  if (strategies.length === 0) {
    throw new WaypointError("USAGE_INVALID", "There is no strategy to choose the best of.");
  }
  const errors: unknown[] = [];
  let best: Winner<T> | undefined;
  const waiting = [...strategies.entries()];
  const runOne = async ([index, strategy]: [number, Strategy<T>]) => {
    const [session] = await checkpoint.fork(1, {
      throwaway: true,
      ...(signal === undefined ? {} : { signal }),
    });
    try {
      const outcome = await strategy(session);
      const found = { session, index, outcome, score: await score(outcome, session) };
      signal?.throwIfAborted();
      const isBetter = best === undefined || isBefore(found, best);
      const loser = isBetter ? best?.session : session;
      if (isBetter) best = found;
      await loser?.remove({ force: true });
    } catch (error) {
      errors.push(error);
      if (best?.session !== session) await session.remove({ force: true });
    }
  };
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      signal?.throwIfAborted();
      await runOne(next);
    }
  };
  const workers = Array.from({ length: Math.max(1, Math.min(concurrency, strategies.length)) });
  const ends = await Promise.allSettled(workers.map(worker));
  const failed = ends.find((end) => end.status === "rejected");
  if (failed !== undefined || signal?.aborted === true) {
    await best?.session.remove({ force: true });
    throw signal?.aborted === true ? cancelled("best of", signal) : failed?.reason;
  }
  if (best === undefined) throw new AggregateError(errors, "All strategies failed.");
  await keep(best.session, signal);
  return best;
}

/** It goes on, so that its memory is to come; without that it works all the same. */
async function keep(session: Session, signal: AbortSignal | undefined): Promise<void> {
  await session.keep(signal === undefined ? {} : { signal }).catch(() => {});
  if (signal?.aborted !== true) return;
  await session.remove({ force: true });
  throw cancelled("best of", signal);
}

/** Of equals the first strategy wins, whichever was faster. */
function isBefore<T>(one: Winner<T>, other: Winner<T>): boolean {
  return one.score > other.score || (one.score === other.score && one.index < other.index);
}

/** What two strategies came to from identical state. */
export interface Comparison<A, B> {
  outcomes: [PromiseSettledResult<A>, PromiseSettledResult<B>];
  /** The two forks, to look at and to compare. */
  sessions: [Session, Session];
}

/**
 * Runs two strategies at once on identical state, hands what they came to and their forks to `look`, and
 * removes the forks.
 */
export async function compare<A, B, T>(
  checkpoint: Checkpoint,
  [one, other]: readonly [Strategy<A>, Strategy<B>],
  look: (comparison: Comparison<A, B>) => Promise<T>,
  options: { signal?: AbortSignal } = {},
): Promise<T> {
  const forks = await checkpoint.fork(2, { ...options, throwaway: true });
  const [first, second] = forks as unknown as [Session, Session];
  try {
    const outcomes = await Promise.allSettled([one(first), other(second)]);
    return await look({ outcomes, sessions: [first, second] });
  } finally {
    await forks[Symbol.asyncDispose]();
  }
}
