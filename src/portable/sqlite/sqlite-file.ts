import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { hasCode, WaypointError } from "../../shared/errors/index.ts";

/** SQLITE_FULL, and the errors of a write and a sync for which the disk had no room. */
const RESULT_CODES_FULL = [13, 778, 1034, 1546, 4874];

/** SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN. */
const RESULT_CODES_UNWRITABLE = [8, 10, 13, 14];

/** A row to write: column names and values. */
export type Row = Record<string, SQLInputValue>;

/** How a file is kept. */
export interface FileOptions {
  /** How long its log of transactions grows. @defaultValue 1000 pages of 4 KiB */
  logPages?: number;
  /** What somebody does who cannot have the newer version that wrote it. */
  elsewhere?: string;
}

/** An SQLite file with numbered migrations, and statements prepared once. */
export class SqliteFile implements Disposable {
  readonly #db: DatabaseSync;
  readonly #what: string;
  readonly #statements = new Map<string, StatementSync>();
  #version = 0;
  /** What a transaction waits for when it ends: the disk, or nothing. */
  #synchronous: "FULL" | "NORMAL" = "FULL";

  private constructor(db: DatabaseSync, what: string) {
    this.#db = db;
    this.#what = what;
  }

  /**
   * Opens or makes the file and brings its schema up to date.
   *
   * @param what      what it is in errors: "catalog".
   * @throws FORMAT_TOO_NEW  a newer Waypoint has written it; a plain error when it is damaged.
   */
  static open(
    path: string,
    migrations: readonly string[],
    what: string,
    { logPages = 1000, elsewhere = "set WAYPOINT_DIR to another directory" }: FileOptions = {},
  ): SqliteFile {
    const file = new SqliteFile(new DatabaseSync(path), what);
    try {
      file.#prepareForWriting(migrations, elsewhere);
      file.#db.exec(`PRAGMA wal_autocheckpoint = ${logPages}`);
      return file;
    } catch (error) {
      // Else it is closed when memory is cleared away, and locks the file for that moment.
      file[Symbol.dispose]();
      throw error;
    }
  }

  /** Opens a file that another process writes, to read what stands in it at each moment. */
  static openForReading(path: string, what: string): SqliteFile {
    const file = new SqliteFile(new DatabaseSync(path, { readOnly: true }), what);
    file.#db.exec("PRAGMA busy_timeout = 5000;");
    return file;
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }

  /** Runs `change` as one transaction: all of it happens or nothing. */
  transaction<T>(change: () => T): T {
    this.#setSynchronous("FULL");
    return this.#transaction(change);
  }

  #transaction<T>(change: () => T): T {
    try {
      this.#prepare("BEGIN IMMEDIATE").run();
      const result = change();
      this.#prepare("COMMIT").run();
      return result;
    } catch (error) {
      // A full disk has ended the transaction already.
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      throw this.#explainFullDisk(error);
    }
  }

  /**
   * As {@link transaction}, but only the death of this process is survived, not a loss of power: the
   * next transaction, or {@link sync}, brings it to the disk.
   */
  quickTransaction<T>(change: () => T): T {
    // Part of another one, it reaches the disk with that.
    if (this.#db.isTransaction) return change();
    this.#setSynchronous("NORMAL");
    return this.#transaction(change);
  }

  /** Brings the log of all transactions to the disk: that of a write syncs what went before. */
  sync(): void {
    this.#setSynchronous("FULL");
    this.#writeVersion();
  }

  /** The smallest change that there is. */
  #writeVersion(): void {
    try {
      this.#db.exec(`PRAGMA user_version = ${this.#version}`);
    } catch (error) {
      throw this.#explainFullDisk(error);
    }
  }

  #setSynchronous(level: "FULL" | "NORMAL"): void {
    if (this.#synchronous === level) return;
    this.#db.exec(`PRAGMA synchronous = ${level}`);
    this.#synchronous = level;
  }

  /**
   * Lets a new file's log have its whole length from the beginning: a log that need not grow is synced
   * in half the time.
   */
  reserveLog(pages: number): void {
    this.#setSynchronous("NORMAL");
    for (let page = 0; page <= pages; page += 1) this.#writeVersion();
    this.#db.exec("PRAGMA wal_checkpoint(RESTART)");
  }

  insert(table: string, row: Row): void {
    const columns = Object.keys(row);
    const marks = columns.map(() => "?").join(", ");
    this.run(
      `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${marks})`,
      ...Object.values(row),
    );
  }

  /** Changes some columns of the row with this id; nothing when there is none. */
  update(table: string, id: string, change: object): void {
    const columns = Object.keys(change);
    if (columns.length === 0) return;
    const assignments = columns.map((column) => `${column} = ?`).join(", ");
    const values = Object.values(change) as SQLInputValue[];
    this.run(`UPDATE ${table} SET ${assignments} WHERE id = ?`, ...values, id);
  }

  /** Returns how many rows were changed. */
  run(sql: string, ...values: SQLInputValue[]): number {
    if (!this.#db.isTransaction) this.#setSynchronous("FULL");
    try {
      return Number(this.#prepare(sql).run(...values).changes);
    } catch (error) {
      throw this.#explainFullDisk(error);
    }
  }

  get<T>(sql: string, ...values: SQLInputValue[]): T | undefined {
    return this.#prepare(sql).get(...values) as T | undefined;
  }

  all<T>(sql: string, ...values: SQLInputValue[]): T[] {
    return this.#prepare(sql).all(...values) as T[];
  }

  #prepareForWriting(migrations: readonly string[], elsewhere: string): void {
    this.#db.exec(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000;",
    );
    const check = this.get<{ quick_check: string }>("PRAGMA quick_check(1)");
    if (check?.quick_check !== "ok") throw new Error(`damaged: ${check?.quick_check}`);
    this.#migrate(migrations, elsewhere);
    this.#version = migrations.length;
    // A file that can be read alone is found out now, not in the middle of an operation.
    this.sync();
  }

  #migrate(migrations: readonly string[], elsewhere: string): void {
    const version = this.get<{ user_version: number }>("PRAGMA user_version")?.user_version ?? 0;
    if (version > migrations.length) {
      throw new WaypointError(
        "FORMAT_TOO_NEW",
        `The ${this.#what} was written by a newer Waypoint.`,
        {
          hint: `Install that version again, or ${elsewhere}.`,
          detail: { found: version, known: migrations.length },
        },
      );
    }
    for (const [index, migration] of migrations.entries()) {
      if (index < version) continue;
      this.transaction(() => {
        this.#db.exec(migration);
        this.#db.exec(`PRAGMA user_version = ${index + 1}`);
      });
    }
  }

  #explainFullDisk(error: unknown): unknown {
    if (!RESULT_CODES_FULL.includes(resultCodeOf(error))) return error;
    return new WaypointError("STORE_FULL", `The disk has no room left for the ${this.#what}.`, {
      hint: "Free disk space where that is kept.",
      detail: { reason: String(error) },
      cause: error,
    });
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** Tells whether a file is whole as far as is known, but cannot be written. */
export function isUnwritable(error: unknown): boolean {
  const code = resultCodeOf(error) & 0xff;
  return hasCode(error, "STORE_FULL") || RESULT_CODES_UNWRITABLE.includes(code);
}

function resultCodeOf(error: unknown): number {
  return error instanceof Error && "errcode" in error ? Number(error.errcode) : 0;
}
