import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { isSystemError } from "../../base/index.ts";
import { explainDiskError } from "../kernel/index.ts";

/** What the store has of sessions beside their files. */
export class SessionFiles {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Writes what is known of a session, atomically for readers; `null` removes all of it.
   *
   * @throws STORE_FULL
   */
  write(sessionId: string, session: object | null): void {
    const filePath = path.join(this.#directory, `${sessionId}.json`);
    if (session !== null) {
      writeAtomically(filePath, session);
      return;
    }
    rmSync(this.#startPath(sessionId), { force: true });
    rmSync(filePath, { force: true });
  }

  /** Returns what was written of every session. */
  readAll(): unknown[] {
    return readdirSync(this.#directory)
      .filter((name) => name.endsWith(".json"))
      .map((name) => JSON.parse(readFileSync(path.join(this.#directory, name), "utf8")));
  }

  /** Writes what a session began with, atomically for readers. @throws STORE_FULL */
  writeStart(sessionId: string, start: object): void {
    writeAtomically(this.#startPath(sessionId), start);
  }

  /** Returns what a session began with, or `null` where nothing that can be read was written. */
  async readStart(sessionId: string): Promise<unknown> {
    try {
      return JSON.parse(await readFile(this.#startPath(sessionId), "utf8"));
    } catch (error) {
      if (error instanceof SyntaxError || isSystemError(error, "ENOENT")) return null;
      throw error;
    }
  }

  /** Another ending than that of the files from which a lost catalog is made again. */
  #startPath(sessionId: string): string {
    return path.join(this.#directory, `${sessionId}.start`);
  }
}

function writeAtomically(filePath: string, content: object): void {
  const unfinishedPath = `${filePath}.new`;
  try {
    writeFileSync(unfinishedPath, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
    renameSync(unfinishedPath, filePath);
  } catch (error) {
    throw explainDiskError(error, "record a session");
  }
}
