import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import type { CheckpointPaths } from "./checkpoint-paths.ts";

/**
 * Copies of memory that are made before a dump, beside the images in memory.
 *
 * A daemon that finds one later removes it, since no checkpoint has its name.
 */
export class AheadCopies {
  /** Makes the directory for a copy, and in it one for images that are no use. */
  async prepare(paths: CheckpointPaths): Promise<{ copyDir: string; scratchDir: string }> {
    const copyDir = directoryOf(paths);
    const scratchDir = path.join(copyDir, "scratch");
    await mkdir(scratchDir, { recursive: true, mode: 0o700 });
    return { copyDir, scratchDir };
  }

  /** Returns the directory with the copy; `null` where there is none. */
  find(paths: CheckpointPaths): string | null {
    return existsSync(directoryOf(paths)) ? directoryOf(paths) : null;
  }

  async remove(paths: CheckpointPaths): Promise<void> {
    await rm(directoryOf(paths), { recursive: true, force: true });
  }
}

function directoryOf({ memoryImagesDir }: CheckpointPaths): string {
  return `${memoryImagesDir}-ahead`;
}
