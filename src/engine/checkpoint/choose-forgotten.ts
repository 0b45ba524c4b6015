/** Images of a durable checkpoint that are in memory too. */
export interface ImagesInMemory {
  checkpointId: string;
  sizeBytes: number;
  /** Time since they were written, or a restore asked for them. */
  unusedMs: number;
  /** A running session stands on this checkpoint. */
  isHead: boolean;
}

/** What memory is given up for, and what is kept all the same. */
export interface KeepingRules {
  /** Most that durable checkpoints may hold together. */
  keptBytesMax: number;
  /** Time without use after which only heads are kept. */
  idleMs: number;
  /** Other programs need the memory: nothing is kept. */
  isMemoryShort: boolean;
}

/**
 * Says which images leave memory: they are in the store as well, so that a restore costs a little
 * more and nothing is lost.
 *
 * Heads are kept before others, since they are what a fork, an undo or a verification is most likely
 * to begin from, and what was used last before what was used long ago.
 *
 * @returns ids of checkpoints, those unused longest first.
 */
export function chooseForgotten(held: readonly ImagesInMemory[], rules: KeepingRules): string[] {
  const byWorth = held.toSorted(
    (a, b) => Number(b.isHead) - Number(a.isHead) || a.unusedMs - b.unusedMs,
  );
  let keptBytes = 0;
  const isKept = ({ sizeBytes, unusedMs, isHead }: ImagesInMemory) => {
    if (rules.isMemoryShort || (unusedMs >= rules.idleMs && !isHead)) return false;
    if (keptBytes + sizeBytes > rules.keptBytesMax) return false;
    keptBytes += sizeBytes;
    return true;
  };
  const forgotten = byWorth.filter((images) => !isKept(images));
  return forgotten.toReversed().map(({ checkpointId }) => checkpointId);
}
