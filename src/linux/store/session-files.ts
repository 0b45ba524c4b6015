import { readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { readSoundJson, readSoundJsonNow, writeIndentedJsonNow } from "./json-file.ts";

const WHAT = "record a session";

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
      writeIndentedJsonNow(filePath, session, WHAT);
      return;
    }
    rmSync(this.#startPath(sessionId), { force: true });
    rmSync(filePath, { force: true });
  }

  /** Returns what was written of every session, `null` of one whose file is damaged. */
  readAll(): unknown[] {
    return readdirSync(this.#directory)
      .filter((name) => name.endsWith(".json"))
      .map((name) => readSoundJsonNow(path.join(this.#directory, name)));
  }

  /** Writes what a session began with, atomically for readers. @throws STORE_FULL */
  writeStart(sessionId: string, start: object): void {
    writeIndentedJsonNow(this.#startPath(sessionId), start, WHAT);
  }

  /** Returns what a session began with, or `null` where nothing that can be read was written. */
  readStart(sessionId: string): Promise<unknown> {
    return readSoundJson(this.#startPath(sessionId));
  }

  /** Another ending than that of the files from which a lost catalog is made again. */
  #startPath(sessionId: string): string {
    return path.join(this.#directory, `${sessionId}.start`);
  }
}
