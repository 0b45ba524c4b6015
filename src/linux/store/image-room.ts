import { statfsSync } from "node:fs";
import { spareMemoryBytes } from "./spare-memory.ts";

/** The room for images in memory: a tmpfs of bounded size, the budget. */
export class ImageRoom {
  readonly #memoryDir: string;
  /** What dumps under way have been promised, by directory. */
  readonly #promisedBytes = new Map<string, number>();

  constructor(memoryDir: string) {
    this.#memoryDir = memoryDir;
  }

  /** Tells whether there is room for images of a size, within the budget and the machine's memory. */
  hasFor(expectedBytes: number): boolean {
    const memory = statfsSync(this.#memoryDir);
    const promised = [...this.#promisedBytes.values()].reduce((sum, bytes) => sum + bytes, 0);
    const free = Math.min(memory.bavail * memory.bsize, spareMemoryBytes());
    return free - promised > expectedBytes;
  }

  promise(directory: string, expectedBytes: number): void {
    this.#promisedBytes.set(directory, expectedBytes);
  }

  /** Takes a promise back: what a dump takes shows in the tmpfs itself. */
  settle(directory: string): void {
    this.#promisedBytes.delete(directory);
  }

  /** Returns how much of the budget is used. */
  usage(): { usedBytes: number; budgetBytes: number } {
    const memory = statfsSync(this.#memoryDir);
    const budgetBytes = memory.blocks * memory.bsize;
    return { usedBytes: budgetBytes - memory.bfree * memory.bsize, budgetBytes };
  }
}
