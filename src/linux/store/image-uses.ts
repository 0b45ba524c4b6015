import { statSync } from "node:fs";
import path from "node:path";
import { isSystemError } from "../../base/index.ts";
import { allocatedBytes } from "./images-dir.ts";

/** Images of one checkpoint in memory. */
export interface HeldImages {
  checkpointId: string;
  sizeBytes: number;
  /** Time since they were written, or a restore held them. */
  unusedMs: number;
}

/** Who uses images in memory, and when somebody did last. Directories are named by checkpoints. */
export class ImageUses {
  readonly #uses = new Map<string, { holders: number; lastAtMs: number }>();
  /** Images that are complete never change. */
  readonly #sizes = new Map<string, number>();

  /**
   * Counts a holder of a directory until the result is disposed of.
   *
   * @param isUse  somebody may well ask for the images again soon.
   */
  hold(directory: string, isUse: boolean): Disposable {
    const note = (change: number) => {
      const { holders = 0, lastAtMs = Number.NEGATIVE_INFINITY } = this.#uses.get(directory) ?? {};
      const usedAtMs = isUse ? performance.now() : lastAtMs;
      this.#uses.set(directory, { holders: holders + change, lastAtMs: usedAtMs });
    };
    note(1);
    return { [Symbol.dispose]: () => note(-1) };
  }

  isHeld(directory: string): boolean {
    return (this.#uses.get(directory)?.holders ?? 0) > 0;
  }

  /** Says what the complete images of a directory take, and how long ago they were of use; `undefined` where it is gone. */
  measure(directory: string): HeldImages | undefined {
    const lastAtMs = this.#uses.get(directory)?.lastAtMs ?? Number.NEGATIVE_INFINITY;
    try {
      const writtenMs = Math.max(0, Date.now() - statSync(directory).mtimeMs);
      const sizeBytes = this.#sizes.get(directory) ?? allocatedBytes(directory);
      this.#sizes.set(directory, sizeBytes);
      const unusedMs = Math.min(performance.now() - lastAtMs, writtenMs);
      return { checkpointId: path.basename(directory), sizeBytes, unusedMs };
    } catch (error) {
      // They were removed meanwhile.
      if (isSystemError(error, "ENOENT")) return undefined;
      throw error;
    }
  }

  forget(directory: string): void {
    this.#uses.delete(directory);
    this.#sizes.delete(directory);
  }

  /** Forgets the directories of other checkpoints that nobody holds. */
  forgetAllBut(checkpointIds: readonly string[]): void {
    for (const [directory, { holders }] of this.#uses) {
      if (holders === 0 && !checkpointIds.includes(path.basename(directory)))
        this.forget(directory);
    }
    for (const directory of this.#sizes.keys()) {
      if (!checkpointIds.includes(path.basename(directory))) this.#sizes.delete(directory);
    }
  }
}
