import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { isSystemError } from "../../base/index.ts";
import { explainDiskError } from "../kernel/index.ts";

/** What is told of checkpoints, each in a file of one name beside its manifest. */
export class StoryFiles {
  readonly #dirOf: (checkpointId: string) => string;

  readonly #name: string;

  /** @param name  of the files: "story.json". */
  constructor(dirOf: (checkpointId: string) => string, name: string) {
    this.#name = name;
    this.#dirOf = dirOf;
  }

  /** Returns what was written, or `null` when there is no story that can be read. */
  async read(checkpointId: string): Promise<unknown> {
    try {
      return JSON.parse(await readFile(this.#pathOf(checkpointId), "utf8"));
    } catch (error) {
      if (error instanceof SyntaxError || isSystemError(error, "ENOENT", "ENOTDIR")) return null;
      throw error;
    }
  }

  /** Tells whether a story was written. */
  has(checkpointId: string): boolean {
    return existsSync(this.#pathOf(checkpointId));
  }

  /** Writes a story, atomically for readers. @throws STORE_FULL */
  async write(checkpointId: string, story: object): Promise<void> {
    const storyPath = this.#pathOf(checkpointId);
    const unfinishedPath = `${storyPath}.new`;
    try {
      await writeFile(unfinishedPath, `${JSON.stringify(story)}\n`, { mode: 0o600 });
      await rename(unfinishedPath, storyPath);
    } catch (error) {
      throw explainDiskError(error, "keep a checkpoint's story");
    }
  }

  #pathOf(checkpointId: string): string {
    return path.join(this.#dirOf(checkpointId), this.#name);
  }
}
