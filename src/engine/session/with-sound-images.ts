import type { CheckpointRow } from "../../portable/model/index.ts";
import { hasCode } from "../../shared/errors/index.ts";
import type { Engine } from "../ports/index.ts";

/**
 * Builds something from the images of a checkpoint. Where those in memory are found damaged and the
 * store has them as well, they are dropped, and it is built once more from the store's.
 *
 * @param build  leaves nothing where it fails; may run again.
 * @throws CHECKPOINT_INCOMPLETE  those in the store are damaged, too, or are not there.
 */
export async function withSoundImages<T>(
  { id }: CheckpointRow,
  build: () => Promise<T>,
  { store, logger }: Engine,
): Promise<T> {
  const paths = store.checkpointPaths(id);
  try {
    return await build();
  } catch (error) {
    const isInMemory = isDamageIn(paths.memoryImagesDir, error);
    if (!isInMemory || !store.images.isInStore(paths)) throw error;
    logger.error("images in memory are damaged; those in the store are used", error, { id });
    await store.images.drop(paths);
    return await build();
  }
}

/** Damaged sums say nothing of the images. */
function isDamageIn(imagesDir: string, error: unknown): boolean {
  if (!hasCode(error, "CHECKPOINT_INCOMPLETE")) return false;
  return error.detail["imagesDir"] === imagesDir && error.detail["image"] !== "images.sums";
}
