import { readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { isSystemError } from "../../base/index.ts";
import { explainDiskError } from "../kernel/index.ts";

/** The verifications of checkpoints, in a file beside the manifest: they outlive the catalog. */
export class VerificationFiles {
  readonly #dirOf: (checkpointId: string) => string;

  constructor(dirOf: (checkpointId: string) => string) {
    this.#dirOf = dirOf;
  }

  /** Returns what was written, oldest first; nothing where there is none that can be read. */
  async read(checkpointId: string): Promise<unknown[]> {
    try {
      const found: unknown = JSON.parse(await readFile(this.#pathOf(checkpointId), "utf8"));
      return Array.isArray(found) ? found : [];
    } catch (error) {
      if (error instanceof SyntaxError || isSystemError(error, "ENOENT", "ENOTDIR")) return [];
      throw error;
    }
  }

  /** Writes all of a checkpoint, oldest first, atomically for readers. @throws STORE_FULL */
  async write(checkpointId: string, verifications: readonly object[]): Promise<void> {
    const filePath = this.#pathOf(checkpointId);
    const unfinishedPath = `${filePath}.new`;
    try {
      await writeFile(unfinishedPath, `${JSON.stringify(verifications)}\n`, { mode: 0o600 });
      await rename(unfinishedPath, filePath);
    } catch (error) {
      throw explainDiskError(error, "keep a verification");
    }
  }

  #pathOf(checkpointId: string): string {
    return path.join(this.#dirOf(checkpointId), "verifications.json");
  }
}
