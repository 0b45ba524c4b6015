import type { CheckpointRow } from "../catalog/index.ts";
import type { ImagesPart } from "../store/index.ts";
import type { EnginePorts } from "./ports.ts";

/** From this size on memory is compared beside the restore, which would have to wait too long for it. */
const BESIDE_BYTES_MIN = 64 * 1024 ** 2;

/** Whether the images of a restore are what was captured. No process may run before that is known. */
export interface ImageCheck {
  /** Resolves when all that CRIU decides by is known to be right. @throws CHECKPOINT_INCOMPLETE */
  first: Promise<void>;
  /**
   * Begins to compare what is left, beside the restore; `null` where nothing is.
   *
   * @param isLazy  the pages server compares what it brings.
   */
  beginRest: (isLazy: boolean) => Promise<void> | null;
  /** Resolves when nothing reads the images any more. @throws CHECKPOINT_INCOMPLETE */
  settle: () => Promise<void>;
}

/** Begins to compare the images of a checkpoint, which the caller holds, with what was captured. */
export function beginImageCheck(
  { id, imagesSums, memoryBytes }: CheckpointRow,
  imagesDir: string,
  { store, logger }: EnginePorts,
): ImageCheck {
  if (imagesSums === null) {
    logger.info("images without sums are not compared", { checkpoint: id });
    return { first: Promise.resolve(), beginRest: () => null, settle: () => Promise.resolve() };
  }
  const begun: Promise<void>[] = [];
  const begin = (part: ImagesPart) => {
    const paths = store.checkpointPaths(id);
    const check = store.images.requireUndamaged(paths, { imagesDir, digest: imagesSums, part });
    // Whoever waits for it may have failed before.
    check.catch(() => {});
    begun.push(check);
    return check;
  };
  const isBeside = memoryBytes >= BESIDE_BYTES_MIN;
  return {
    first: begin(isBeside ? "rest" : "all"),
    beginRest: (isLazy) => (isBeside && !isLazy ? begin("pages") : null),
    settle: async () => {
      const outcomes = await Promise.allSettled(begun);
      const failure = outcomes.find((outcome) => outcome.status === "rejected");
      if (failure !== undefined) throw failure.reason;
    },
  };
}

/** Compares all images of a checkpoint before something is given up for it. @throws CHECKPOINT_INCOMPLETE */
export async function requireUndamaged(
  checkpoint: CheckpointRow,
  ports: EnginePorts,
): Promise<void> {
  if (checkpoint.content === "files") return;
  using held = ports.store.images.hold(ports.store.checkpointPaths(checkpoint.id));
  const check = beginImageCheck(checkpoint, held.imagesDir, ports);
  check.beginRest(false);
  await check.settle();
}
