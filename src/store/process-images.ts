import { existsSync, statfsSync } from "node:fs";
import { cp, mkdir, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { WaypointError } from "../errors/index.ts";
import { explainDiskError } from "../kernel/index.ts";

/** Where the parts of a checkpoint lie. */
export interface CheckpointPaths {
  checkpointDir: string;
  /** Read-only snapshot of the instance's subvolume. */
  snapshotPath: string;
  /** Process images in the store, once they are durable. */
  imagesDir: string;
  /** Process images in memory, until they are durable and room is needed. */
  memoryImagesDir: string;
  manifestPath: string;
}

/** The process images of checkpoints, in memory first and in the store when there is time. */
export class ProcessImages {
  readonly #memoryDir: string;

  /** @param memoryDir  a tmpfs of bounded size. */
  constructor(memoryDir: string) {
    this.#memoryDir = memoryDir;
  }

  /** Makes the directory that CRIU writes to: in memory where there is room, else in the store. */
  async prepare(paths: CheckpointPaths, expectedBytes: number): Promise<string> {
    const memory = statfsSync(this.#memoryDir);
    const isRoom = memory.bavail * memory.bsize > expectedBytes;
    const directory = isRoom ? paths.memoryImagesDir : paths.imagesDir;
    await mkdir(directory, { mode: 0o700 });
    return directory;
  }

  /** Returns the directory with a checkpoint's process images. @throws CHECKPOINT_INCOMPLETE */
  locate({ memoryImagesDir, imagesDir, checkpointDir }: CheckpointPaths): string {
    if (existsSync(path.join(memoryImagesDir, "inventory.img"))) return memoryImagesDir;
    if (existsSync(path.join(imagesDir, "inventory.img"))) return imagesDir;
    const id = path.basename(checkpointDir);
    throw new WaypointError(
      "CHECKPOINT_INCOMPLETE",
      `The process images of checkpoint ${id} are gone.`,
      {
        hint: "The machine restarted before they were durable; its files are still there.",
        detail: { imagesDir },
      },
    );
  }

  /**
   * Copies a checkpoint's images from memory into the store.
   *
   * Idempotent; readers find the images in memory until the copy is whole.
   *
   * @throws STORE_FULL  nothing of the copy is left.
   */
  async copyToStore({ memoryImagesDir, imagesDir, checkpointDir }: CheckpointPaths): Promise<void> {
    if (!existsSync(memoryImagesDir) || existsSync(imagesDir)) return;
    const unfinishedDir = path.join(checkpointDir, "images.new");
    await rm(unfinishedDir, { recursive: true, force: true });
    try {
      await cp(memoryImagesDir, unfinishedDir, { recursive: true });
      await rename(unfinishedDir, imagesDir);
    } catch (error) {
      await rm(unfinishedDir, { recursive: true, force: true });
      throw explainDiskError(error, "make a checkpoint durable");
    }
  }

  /** Tells whether the images in memory leave half of their room to new ones. */
  hasRoomToSpare(): boolean {
    const memory = statfsSync(this.#memoryDir);
    return memory.bavail * 2 >= memory.blocks;
  }

  /** Frees the memory of images that are in the store too. */
  async forget({ imagesDir, memoryImagesDir }: CheckpointPaths): Promise<void> {
    if (existsSync(imagesDir)) await rm(memoryImagesDir, { recursive: true, force: true });
  }

  /** Lists the checkpoints that have images in memory. */
  list(): Promise<string[]> {
    return readdir(this.#memoryDir);
  }
}
