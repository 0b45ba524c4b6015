/** Something that is measured: one call is one run, and returns one value for each of its lines. */
export interface Contender {
  name: string;
  /** Returns milliseconds by the key of a line. */
  run: () => Promise<Record<string, number>>;
}

/**
 * Runs all contenders in turn, again and again, so that a slow moment of the machine hits all.
 *
 * @returns the values of every line, warm-up left out.
 */
export async function runInTurn(
  contenders: readonly Contender[],
  options: { rounds: number; warmUpRounds: number; onRound?: (round: number) => void },
): Promise<Map<string, number[]>> {
  const values = new Map<string, number[]>();
  for (let round = -options.warmUpRounds; round < options.rounds; round += 1) {
    options.onRound?.(round);
    // Each goes first as often as the others: what one leaves behind hits a different one each time.
    const offset = (round + options.warmUpRounds) % contenders.length;
    const order = [...contenders.slice(offset), ...contenders.slice(0, offset)];
    for (const contender of order) {
      const measured = await contender.run();
      if (round < 0) continue;
      for (const [key, value] of Object.entries(measured)) {
        values.set(key, [...(values.get(key) ?? []), value]);
      }
    }
  }
  return values;
}

/** Returns what `work` returned and how long it took, in milliseconds. */
export async function timed<T>(work: () => Promise<T>): Promise<{ value: T; tookMs: number }> {
  const startedAtMs = performance.now();
  const value = await work();
  return { value, tookMs: performance.now() - startedAtMs };
}
