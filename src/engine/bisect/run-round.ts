import { WaypointError } from "../../shared/errors/index.ts";
import type { Tested } from "./test-checkpoint.ts";

/** How the places of one round are tried. */
export interface Round {
  concurrency: number;
  /** The caller gives up all of it. */
  signal: AbortSignal;
  /** Whether the result at a place would still say something. */
  isNeeded: (place: number) => boolean;
  /** Tries one place; gives up when `unneeded` is aborted. */
  test: (place: number, unneeded: AbortSignal) => Promise<Tested>;
  /** Takes a result, one after the other. */
  onTested: (place: number, tested: Tested) => Promise<void>;
}

/**
 * Tries the places of a round, some at once, in their order. After each result, those that are not
 * needed any more are given up, or never begun.
 *
 * Resolves or rejects when none runs any more: the first failure gives up all of the others.
 */
export async function runRound(
  places: readonly number[],
  { concurrency, signal, isNeeded, test, onTested }: Round,
): Promise<{ begun: number; cancelled: number }> {
  const left = [...places];
  const running = new Map<number, AbortController>();
  let counts = { begun: 0, cancelled: 0 };
  let failure: { error: unknown } | undefined;
  const giveUp = (isMeant: (place: number) => boolean) => {
    for (const [place, controller] of running) if (isMeant(place)) controller.abort();
  };
  const tryOne = async (place: number) => {
    const controller = new AbortController();
    running.set(place, controller);
    counts = { ...counts, begun: counts.begun + 1 };
    const tested = await test(place, controller.signal);
    running.delete(place);
    if (tested.kind === "cancelled") counts = { ...counts, cancelled: counts.cancelled + 1 };
    if (failure !== undefined) return;
    await onTested(place, tested);
    giveUp((other) => !isNeeded(other));
  };
  const work = async () => {
    for (let place = left.shift(); place !== undefined; place = left.shift()) {
      if (failure !== undefined || !isNeeded(place)) continue;
      try {
        if (signal.aborted) throw new WaypointError("CANCELLED", "The operation was cancelled.");
        await tryOne(place);
      } catch (error) {
        running.delete(place);
        failure ??= { error };
        giveUp(() => true);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, places.length) }, work));
  if (failure !== undefined) throw failure.error;
  return counts;
}
