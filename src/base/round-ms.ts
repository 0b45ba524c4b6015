/** Returns a duration in milliseconds as it is recorded and told. */
export function roundMs(durationMs: number): number {
  return Math.round(durationMs * 100) / 100;
}
