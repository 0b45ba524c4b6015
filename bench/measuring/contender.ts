/** Something that is measured: one call is one run, and returns one value for each of its figures. */
export interface Contender {
  /** Who does the work: "waypoint", "podman". Several contenders may share it. */
  name: string;
  /** What comes before the rest, and is not measured. */
  before?: () => Promise<void>;
  /** Returns milliseconds by figure: `{ pause: 9.1, checkpoint: 21 }`. */
  run: () => Promise<Record<string, number>>;
}

/** Returns what `work` returned and how long it took, in milliseconds. */
export async function timed<T>(work: () => Promise<T>): Promise<{ value: T; tookMs: number }> {
  const startedAtMs = performance.now();
  const value = await work();
  return { value, tookMs: performance.now() - startedAtMs };
}
