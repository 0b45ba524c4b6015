/**
 * Returns the share of the last ten seconds in which some program stood still, as /proc/pressure tells it;
 * 0 where it tells nothing.
 */
export function memoryStallShare(text: string): number {
  return Number(/^some avg10=(\d+\.\d+) /m.exec(text)?.[1] ?? 0) / 100;
}
