import { setTimeout as delay } from "node:timers/promises";
import type { Contender } from "./contender.ts";
import { runInTurn, type Series } from "./run-in-turn.ts";

/** So that a run at the pace of use comes to an end: each contender rests in each round. */
const ROUNDS_MAX = 12;

/** How a figure is named that was measured after a rest, beside the same without. */
export function restedFigure(figure: string): string {
  return `${figure}, after a rest`;
}

/**
 * Measures the same contenders at the pace of use: each rests first, and nothing touches memory for it.
 *
 * A machine that has rested has given free memory back to its host, has its processors asleep and its
 * caches used by others: that is what somebody meets who does something every few seconds.
 */
export async function runRested(
  contenders: readonly Contender[],
  options: Omit<Parameters<typeof runInTurn>[1], "beforeEach" | "warmUpRounds"> & {
    restSeconds: number;
  },
): Promise<Series[]> {
  const { restSeconds, signal } = options;
  const series = await runInTurn(contenders, {
    ...options,
    rounds: Math.min(options.rounds, ROUNDS_MAX),
    warmUpRounds: 0,
    beforeEach: () => delay(restSeconds * 1000, undefined, signal === undefined ? {} : { signal }),
  });
  return series.map((each) => ({ ...each, figure: restedFigure(each.figure) }));
}
