/** What the values of one series say. */
export interface Summary {
  count: number;
  min: number;
  p50: number;
  p95: number;
  max: number;
}

/** Returns the order statistics of a series; nearest rank, so that each is a value that occurred. */
export function summarize(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { count: sorted.length, min: at(0), p50: at(0.5), p95: at(0.95), max: at(1) };
}
