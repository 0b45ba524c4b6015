import path from "node:path";
import { readSoundJson, writeJson } from "./json-file.ts";

/** What is known of checkpoints, each in a file of one name beside its manifest. */
export class CheckpointFile {
  readonly #pathOf: (checkpointId: string) => string;
  readonly #what: string;

  /** @param what  is to be kept: "a checkpoint's story". */
  constructor(dirOf: (checkpointId: string) => string, name: string, what: string) {
    this.#pathOf = (checkpointId) => path.join(dirOf(checkpointId), name);
    this.#what = what;
  }

  /** Returns what was written, or `null` when there is nothing that can be read. */
  read(checkpointId: string): Promise<unknown> {
    return readSoundJson(this.#pathOf(checkpointId));
  }

  /** Writes all of a checkpoint, atomically for readers. @throws STORE_FULL */
  write(checkpointId: string, value: object): Promise<void> {
    return writeJson(this.#pathOf(checkpointId), value, `keep ${this.#what}`);
  }
}
