import type { SqliteFile } from "../../sqlite/index.ts";
import type { VerdictsOf, VerificationLog, VerificationRow } from "../verification-log.ts";

/** Verifications of one checkpoint that are kept; older ones are forgotten. */
const KEPT_MAX = 100;
/** What the timeline gets of an output, in characters. */
const BRIEF_CHARACTERS_MAX = 500;

const COLUMNS = "checkpoint, command, exitCode, durationMs, at, timedOut, by, output, outputBytes";
/** As {@link verdictOf} has it. */
const IS_VERDICT = "timedOut = 0 AND exitCode < 126";
/** Rows that may say which command is a checkpoint's own. */
const MAY_BE_OWN = "by <> 'bisect'";
/** The one that `checkpoint --verify` was given, or else the first one that came to a verdict. */
const OWN_FIRST = `by = 'checkpoint' DESC, (${IS_VERDICT}) DESC, v.id`;
/** What is no verdict counts where there is none. */
const LATEST_FIRST = `(${IS_VERDICT}) DESC, v.id DESC`;
/** Where the checkpoint's session has a verify command, that one alone. */
const IS_OF_SESSION = `coalesce((SELECT s.verifyCommand FROM checkpoints c
  JOIN sessions s ON s.id = c.session WHERE c.id = v.checkpoint), v.command) = v.command`;

type Stored = Omit<VerificationRow, "timedOut"> & { timedOut: number };

/** The verifications of checkpoints, in the catalog. */
export class SqliteVerificationLog implements VerificationLog {
  readonly #file: SqliteFile;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  add(row: VerificationRow): void {
    this.#file.transaction(() => {
      this.#file.insert("verifications", { ...row, timedOut: row.timedOut ? 1 : 0 });
      const { checkpoint } = row;
      // All but the one that says which command is the checkpoint's own.
      this.#file.run(
        `DELETE FROM verifications WHERE checkpoint = ? AND id <= (
           SELECT id FROM verifications WHERE checkpoint = ? ORDER BY id DESC LIMIT 1 OFFSET ?
         ) AND id IS NOT (
           SELECT v.id FROM verifications v WHERE checkpoint = ? AND ${MAY_BE_OWN}
           ORDER BY ${OWN_FIRST} LIMIT 1
         )`,
        ...[checkpoint, checkpoint, KEPT_MAX, checkpoint],
      );
    });
  }

  of(checkpoint: string): VerificationRow[] {
    const sql = `SELECT ${COLUMNS} FROM verifications WHERE checkpoint = ? ORDER BY id DESC`;
    return this.#file.all<Stored>(sql, checkpoint).map(fromStored);
  }

  all(): VerificationRow[] {
    const sql = `SELECT ${COLUMNS} FROM verifications ORDER BY id DESC`;
    return this.#file.all<Stored>(sql).map(fromStored);
  }

  verdicts({ checkpoint = null, command = null }: VerdictsOf = {}): Map<string, VerificationRow> {
    const columns = COLUMNS.replace(
      "output,",
      `substr(output, -${BRIEF_CHARACTERS_MAX}) AS output,`,
    );
    const rows = this.#file.all<Stored>(
      `SELECT ${columns} FROM verifications
       WHERE id IN (SELECT id FROM (
         SELECT v.id, row_number() OVER (
           PARTITION BY v.checkpoint ORDER BY ${LATEST_FIRST}
         ) AS place
         FROM verifications v JOIN (
           SELECT v.checkpoint, v.command, row_number() OVER (
             PARTITION BY v.checkpoint ORDER BY ${OWN_FIRST}
           ) AS place
           FROM verifications v WHERE ${MAY_BE_OWN} AND (?1 IS NULL OR v.checkpoint = ?1)
             AND CASE WHEN ?2 IS NULL THEN ${IS_OF_SESSION} ELSE v.command = ?2 END
         ) own ON own.place = 1 AND own.checkpoint = v.checkpoint AND own.command = v.command
         WHERE v.by <> 'bisect'
       ) WHERE place = 1)`,
      ...[checkpoint, command],
    );
    return new Map(rows.map((row) => [row.checkpoint, fromStored(row)]));
  }

  deleteOf(checkpoint: string, command: string | null = null): number {
    const sql = "DELETE FROM verifications WHERE checkpoint = ?1 AND (?2 IS NULL OR command = ?2)";
    return this.#file.run(sql, checkpoint, command);
  }
}

function fromStored(stored: Stored): VerificationRow {
  return { ...stored, timedOut: stored.timedOut !== 0 };
}
