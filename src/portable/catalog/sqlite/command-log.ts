import type { SqliteFile } from "../../sqlite/index.ts";
import type { CaptureRow, CommandLog, CommandRow } from "../command-log.ts";

/** Commands of one instance that are kept; older ones are in the stories that follow them. */
const KEPT_MAX = 500;

/**
 * The commands that were run, in the catalog.
 *
 * Nothing here waits for the disk: the last of it may be lost with the power, and no command waits
 * for being noted.
 */
export class SqliteCommandLog implements CommandLog {
  readonly #file: SqliteFile;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  add(row: CommandRow): void {
    this.#file.quickTransaction(() => {
      this.#file.insert("commands", { ...row });
      this.#file.run(
        `DELETE FROM commands WHERE instance = ? AND id <= (
           SELECT id FROM commands WHERE instance = ? ORDER BY id DESC LIMIT 1 OFFSET ?
         )`,
        row.instance,
        row.instance,
        KEPT_MAX,
      );
    });
  }

  last(): number {
    const sql = "SELECT coalesce(max(id), 0) AS last FROM commands";
    return this.#file.get<{ last: number }>(sql)?.last ?? 0;
  }

  between(instance: string, after: number, until: number): CommandRow[] {
    return this.#file.all<CommandRow>(
      `SELECT session, instance, command, by, startedAt, durationMs, exitCode, output, outputBytes
       FROM commands WHERE instance = ? AND id > ? AND id <= ? ORDER BY id`,
      instance,
      after,
      until,
    );
  }

  putCapture({ running, ...row }: CaptureRow): void {
    this.#file.quickTransaction(() => {
      this.#file.insert("captures", { ...row, running: JSON.stringify(running) });
    });
  }

  capture(checkpoint: string): CaptureRow | undefined {
    const sql = "SELECT * FROM captures WHERE checkpoint = ?";
    const stored = this.#file.get<Omit<CaptureRow, "running"> & { running: string }>(
      sql,
      checkpoint,
    );
    return stored === undefined ? undefined : { ...stored, running: JSON.parse(stored.running) };
  }

  deleteCapture(checkpoint: string): void {
    this.#file.run("DELETE FROM captures WHERE checkpoint = ?", checkpoint);
    this.deleteForgotten();
  }

  deleteForgotten(): void {
    this.#file.run(
      `DELETE FROM commands WHERE instance NOT IN (SELECT id FROM instances)
         AND instance NOT IN (SELECT instance FROM captures)`,
    );
  }
}
