import type { SqliteFile } from "./sqlite-file.ts";

/** Verifications of one checkpoint that are kept; older ones are forgotten. */
const KEPT_MAX = 100;
/** What the timeline gets of an output, in characters. */
const BRIEF_CHARACTERS_MAX = 500;

const COLUMNS = "checkpoint, command, exitCode, durationMs, at, timedOut, output, outputBytes";

/** What a command did that was run against exactly one checkpoint. */
export interface VerificationRow {
  checkpoint: string;
  command: string;
  exitCode: number;
  durationMs: number;
  at: string;
  timedOut: boolean;
  /** The end of what it printed. */
  output: string;
  outputBytes: number;
}

type Stored = Omit<VerificationRow, "timedOut"> & { timedOut: number };

/** The verifications of checkpoints, in the catalog. */
export class VerificationLog {
  readonly #file: SqliteFile;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  /** Adds the newest verification of a checkpoint. @throws STORE_FULL */
  add(row: VerificationRow): void {
    this.#file.transaction(() => {
      this.#file.insert("verifications", { ...row, timedOut: row.timedOut ? 1 : 0 });
      this.#file.run(
        `DELETE FROM verifications WHERE checkpoint = ? AND id <= (
           SELECT id FROM verifications WHERE checkpoint = ? ORDER BY id DESC LIMIT 1 OFFSET ?
         )`,
        row.checkpoint,
        row.checkpoint,
        KEPT_MAX,
      );
    });
  }

  /** Returns all that are kept of one checkpoint, newest first. */
  of(checkpoint: string): VerificationRow[] {
    const sql = `SELECT ${COLUMNS} FROM verifications WHERE checkpoint = ? ORDER BY id DESC`;
    return this.#file.all<Stored>(sql, checkpoint).map(fromStored);
  }

  /** Returns all that are kept of all checkpoints, newest first: for whoever searches them. */
  all(): VerificationRow[] {
    const sql = `SELECT ${COLUMNS} FROM verifications ORDER BY id DESC`;
    return this.#file.all<Stored>(sql).map(fromStored);
  }

  /** Returns the newest one of each checkpoint, by its id, with the last characters of its output. */
  newest(): Map<string, VerificationRow> {
    const columns = COLUMNS.replace(
      "output,",
      `substr(output, -${BRIEF_CHARACTERS_MAX}) AS output,`,
    );
    const rows = this.#file.all<Stored>(
      `SELECT ${columns} FROM verifications
       WHERE id IN (SELECT max(id) FROM verifications GROUP BY checkpoint)`,
    );
    return new Map(rows.map((row) => [row.checkpoint, fromStored(row)]));
  }

  deleteOf(checkpoint: string): void {
    this.#file.run("DELETE FROM verifications WHERE checkpoint = ?", checkpoint);
  }
}

function fromStored(stored: Stored): VerificationRow {
  return { ...stored, timedOut: stored.timedOut !== 0 };
}
