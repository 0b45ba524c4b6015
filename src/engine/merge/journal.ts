import { closeSync, fsyncSync, openSync } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import type { RawPath } from "../../base/index.ts";
import { isSystemError } from "../../base/index.ts";
import { explainFailure, type KeptFiles, type StagedChange } from "../changes/index.ts";
import type { Step } from "./plan.ts";

/** Finished ones that are kept to be taken back; older ones are forgotten. */
const KEPT_MAX = 20;

/** Where work was taken to. */
export type Destination =
  /** A directory of the machine, as its users see it. */
  { kind: "machine"; directory: RawPath } | { kind: "session"; session: string };

/** A step as it is kept: without content, which lies in files beside it. */
export type KeptStep = Omit<Step, "merged"> & StagedChange;

/**
 * How far it is. `staging`: nothing has changed that anybody sees. `committing`: all that is needed
 * lies beside the files, so that it can be completed or put back. `finishing`: it only has to be
 * completed. The others are ends.
 */
export type JournalState = "staging" | "committing" | "finishing" | "done" | "put-back" | "undone";

/** One apply or merge, as it is kept in the store. */
export interface JournalRecord {
  id: string;
  kind: "apply" | "merge";
  state: JournalState;
  at: string;
  session: string;
  checkpoint: string;
  destination: Destination;
  /** Checkpoint of the session before a merge. */
  before: string | null;
  /** Number of the operation that this one takes back; records of older versions lack it. */
  undoes?: number | null;
  /** Row of the operations' log; `null` before it is done. */
  operation: number | null;
  steps: KeptStep[];
}

/** The records of what was applied and merged, each a directory with what undo needs. */
export class Journal {
  readonly #directory: string;

  constructor(storeDir: string) {
    this.#directory = path.join(storeDir, "applies");
  }

  /** Returns where a record has its files. */
  dirOf(id: string): string {
    return path.join(this.#directory, id);
  }

  /** Returns where the old version of a step is kept. */
  oldPath(id: string, number: number): string {
    return path.join(this.dirOf(id), "old", String(number));
  }

  /** Returns where the other side's text of a step is kept, of which the lines were joined. */
  joinedPath(id: string, number: number): string {
    return path.join(this.dirOf(id), "joined", String(number));
  }

  /** Returns where the files of a record's steps are kept. */
  filesOf(id: string): KeptFiles {
    return {
      oldPath: (number) => this.oldPath(id, number),
      joinedPath: (number) => this.joinedPath(id, number),
    };
  }

  /** Makes the directory of a new record, or nothing of it. @throws STORE_FULL | FILE_FAILED */
  async make(id: string): Promise<void> {
    try {
      for (const name of ["old", "joined"]) {
        await mkdir(path.join(this.dirOf(id), name), { recursive: true, mode: 0o700 });
      }
    } catch (error) {
      await this.remove(id).catch(() => {});
      throw explainFailure(error, "nothing was changed");
    }
  }

  /** Writes a record: whole and on the disk when it returns. */
  async write(record: JournalRecord): Promise<void> {
    const recordPath = path.join(this.dirOf(record.id), "record.json");
    const newPath = `${recordPath}.new`;
    {
      await using file = await open(newPath, "w", 0o600);
      await file.writeFile(JSON.stringify(record));
      await file.sync();
    }
    await rename(newPath, recordPath);
    const fd = openSync(this.dirOf(record.id), "r");
    fsyncSync(fd);
    closeSync(fd);
  }

  /** Returns all records, oldest first; what has none was never begun. */
  async list(): Promise<JournalRecord[]> {
    const records: JournalRecord[] = [];
    for (const id of await this.#names()) {
      const text = await readIfThere(path.join(this.dirOf(id), "record.json"));
      if (text !== null) records.push(JSON.parse(text) as JournalRecord);
    }
    return records.sort((one, other) => (one.at < other.at ? -1 : 1));
  }

  async remove(id: string): Promise<void> {
    await rm(this.dirOf(id), { recursive: true, force: true });
  }

  /** Notes that an apply was taken back, unless it was forgotten meanwhile. */
  async noteUndone(operation: number): Promise<void> {
    const record = (await this.list()).find((each) => each.operation === operation);
    if (record !== undefined) await this.write({ ...record, state: "undone" });
  }

  /** Removes the directory of a record that was never written. */
  async removeUnused(id: string): Promise<void> {
    const text = await readIfThere(path.join(this.dirOf(id), "record.json"));
    if (text === null) await this.remove(id);
  }

  /** Forgets the oldest of those that are at an end. */
  async forgetOld(): Promise<void> {
    const ended = (await this.list()).filter(({ state }) => state === "done" || state === "undone");
    for (const { id } of ended.slice(0, -KEPT_MAX)) await this.remove(id);
    for (const id of await this.#names()) await this.removeUnused(id);
  }

  async #names(): Promise<string[]> {
    try {
      return await readdir(this.#directory);
    } catch (error) {
      if (isSystemError(error, "ENOENT")) return [];
      throw error;
    }
  }
}

async function readIfThere(filePath: string): Promise<string | null> {
  try {
    return await readFile(filePath, "utf8");
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return null;
    throw error;
  }
}
