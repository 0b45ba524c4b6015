import type { ImagesPart } from "../../linux/store/index.ts";
import type { CheckpointRow } from "../../portable/model/index.ts";
import type { Engine } from "../ports/index.ts";
import { withSoundImages } from "./with-sound-images.ts";

/** From this size on memory is compared by itself: a lazy restore does not wait for it. */
const APART_BYTES_MIN = 64 * 1024 ** 2;
/** And beside CRIU, whose work it would lengthen too much; holding tasks back costs a little, too. */
const BESIDE_BYTES_MIN = 256 * 1024 ** 2;

/** Whether the images of a restore are what was captured. No process may run before that is known. */
export interface ImageCheck {
  /** Resolves when all that CRIU decides by is known to be right. @throws CHECKPOINT_INCOMPLETE */
  first: Promise<void>;
  /**
   * Compares what is left, or begins to: then it returns how to wait for the end of that.
   *
   * @param isLazy  the pages server compares what it brings.
   * @throws CHECKPOINT_INCOMPLETE
   */
  compareRest: (isLazy: boolean) => Promise<(() => Promise<void>) | null>;
  /** Resolves when nothing reads the images any more. @throws CHECKPOINT_INCOMPLETE */
  settle: () => Promise<void>;
}

/** Begins to compare the images of a checkpoint, which the caller holds, with what was captured. */
export function beginImageCheck(
  { id, imagesSums, memoryBytes }: CheckpointRow,
  imagesDir: string,
  { store, logger }: Engine,
): ImageCheck {
  if (imagesSums === null) {
    logger.info("images without sums are not compared", { checkpoint: id });
    const done = () => Promise.resolve();
    return { first: done(), compareRest: () => Promise.resolve(null), settle: done };
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
  const isApart = memoryBytes >= APART_BYTES_MIN;
  return {
    first: begin(isApart ? "rest" : "all"),
    compareRest: async (isLazy) => {
      if (!isApart || isLazy) return null;
      const check = begin("pages");
      if (memoryBytes >= BESIDE_BYTES_MIN) return () => check;
      await check;
      return null;
    },
    settle: async () => {
      const outcomes = await Promise.allSettled(begun);
      const failure = outcomes.find((outcome) => outcome.status === "rejected");
      if (failure !== undefined) throw failure.reason;
    },
  };
}

/** Compares all images of a checkpoint before something is given up for it. @throws CHECKPOINT_INCOMPLETE */
export async function requireUndamaged(checkpoint: CheckpointRow, engine: Engine): Promise<void> {
  if (checkpoint.content === "files") return;
  await withSoundImages(checkpoint, () => compareAll(checkpoint, engine), engine);
}

async function compareAll(checkpoint: CheckpointRow, engine: Engine): Promise<void> {
  using held = engine.store.images.hold(engine.store.checkpointPaths(checkpoint.id));
  const check = beginImageCheck(checkpoint, held.imagesDir, engine);
  // What it finds, settling tells.
  await check.compareRest(false).catch(() => {});
  await check.settle();
}
