import type { Contender } from "./contender.ts";

const ROUNDS_MIN = 2;

/** One figure of one contender, with every value that was measured. */
export interface Series {
  contender: string;
  figure: string;
  values: number[];
}

/**
 * Runs all contenders in turn, again and again, so that a slow moment of the machine hits all.
 *
 * @returns the values of every figure, warm-up left out.
 */
export async function runInTurn(
  contenders: readonly Contender[],
  options: {
    rounds: number;
    warmUpRounds: number;
    /** A contender that has taken longer sits out, once it has run twice. @defaultValue no bound */
    budgetMs?: number;
    onRound?: (round: number) => void;
    /** Makes the machine the same for whoever comes next. */
    beforeEach?: () => Promise<void>;
    /** Ends the run before the next contender starts. */
    signal?: AbortSignal;
    /** Hears of a contender that failed; it does not run again. */
    onFailure: (contender: Contender, error: unknown) => void;
  },
): Promise<Series[]> {
  const series = new Map<string, Series>();
  const failed = new Set<Contender>();
  const spentMs = new Map<Contender, number>();
  const isSpent = (contender: Contender, round: number) =>
    round >= ROUNDS_MIN && (spentMs.get(contender) ?? 0) > (options.budgetMs ?? Infinity);
  for (let round = -options.warmUpRounds; round < options.rounds; round += 1) {
    options.onRound?.(round);
    // Each goes first as often as the others: what one leaves behind hits a different one each time.
    const offset = (round + options.warmUpRounds) % contenders.length;
    const order = [...contenders.slice(offset), ...contenders.slice(0, offset)];
    for (const contender of order) {
      options.signal?.throwIfAborted();
      if (failed.has(contender) || isSpent(contender, round)) continue;
      const { name } = contender;
      const startedAtMs = performance.now();
      const measured = await runOnce(contender, options.beforeEach).catch((error: unknown) => {
        options.signal?.throwIfAborted();
        failed.add(contender);
        options.onFailure(contender, error);
        return { values: {}, waitedMs: 0 };
      });
      const tookMs = performance.now() - startedAtMs - measured.waitedMs;
      spentMs.set(contender, (spentMs.get(contender) ?? 0) + tookMs);
      if (round < 0) continue;
      for (const [figure, value] of Object.entries(measured.values)) {
        const key = `${name} ${figure}`;
        const entry = series.get(key) ?? { contender: name, figure, values: [] };
        entry.values.push(value);
        series.set(key, entry);
      }
    }
  }
  const place = ({ contender }: Series) => contenders.findIndex(({ name }) => name === contender);
  return [...series.values()].sort((a, b) => place(a) - place(b));
}

/** Returns what was measured, and how long it had to wait for the machine to be made the same. */
async function runOnce({ before, run }: Contender, beforeEach: (() => Promise<void>) | undefined) {
  await before?.();
  const waitedFromMs = performance.now();
  await beforeEach?.();
  const waitedMs = performance.now() - waitedFromMs;
  return { values: await run(), waitedMs };
}
