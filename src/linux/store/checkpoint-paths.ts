/** Where the parts of a checkpoint lie. */
export interface CheckpointPaths {
  checkpointDir: string;
  /** Read-only snapshot of the instance's subvolume. */
  snapshotPath: string;
  /** Process images in the store, once they are durable. */
  imagesDir: string;
  /** Process images in memory, until they are durable and room is needed. */
  memoryImagesDir: string;
  /** Sums of the process images, wherever they lie. */
  sumsPath: string;
  /** What of images that were put together is not as in those that they came from, until they have sums. */
  changedPath: string;
  manifestPath: string;
}
