import { hasCode, WaypointError } from "../../../shared/errors/index.ts";
import { SqliteFile } from "../../sqlite/index.ts";
import type {
  Change,
  ScanOptions,
  ThreadRecord,
  ThreadRecords,
  WriteConditions,
  WriteResult,
} from "../thread-records.ts";

const MIGRATIONS = [
  // A table with row ids: values of some KiB share pages, which they do not in an index.
  `CREATE TABLE threads (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, revision INTEGER NOT NULL);
   CREATE TABLE records (thread INTEGER NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,
     UNIQUE (thread, key));`,
];
const OPTIONS = { elsewhere: "open another file" };
/** A log of 1 MiB from the beginning. */
const LOG_PAGES = 256;

interface Thread {
  id: number;
  revision: number;
}

/** How long a write that need not survive a loss of power waits for the disk. */
const SYNCED_AFTER_MS = 1000;

/** A write that waits for the transaction of this turn. */
interface Waiting {
  isQuick: boolean;
  run: () => WriteResult;
  done: (result: WriteResult) => void;
  failed: (reason: unknown) => void;
}

/**
 * Records in a file of SQLite. Each write has reached the disk when it is answered, unless it need not.
 * Those of one turn of the program that have to share a transaction, and so a wait for the disk; one that
 * need not is written at once, with what waits then.
 */
export class SqliteRecords implements ThreadRecords {
  readonly #file: SqliteFile;
  #waiting: Waiting[] = [];
  /** Content that the transaction of this turn has brought already. */
  readonly #brought = new Set<string>();
  /** Set while something has not reached the disk. */
  #syncing: NodeJS.Timeout | null = null;

  private constructor(file: SqliteFile) {
    this.#file = file;
  }

  /**
   * Opens or makes the file.
   *
   * @throws FORMAT_TOO_NEW  a newer Waypoint has written it.
   * @throws STORE_FAILED  it cannot be opened, or is damaged.
   * @throws STORE_UNREACHABLE  another program keeps it locked.
   */
  static open(path: string): SqliteRecords {
    const open = () => {
      const file = SqliteFile.open(path, MIGRATIONS, "checkpoints of graphs", OPTIONS);
      if (file.get("SELECT 1 FROM threads LIMIT 1") === undefined) {
        file.reserveLog(LOG_PAGES);
      }
      return file;
    };
    return new SqliteRecords(explained(open));
  }

  async write(
    thread: string,
    changes: readonly Change[],
    conditions: WriteConditions = {},
  ): Promise<WriteResult> {
    const isQuick = conditions.survives === "process";
    return await new Promise((done, failed) => {
      // A graph of quick nodes gives the loop no turn before its end: what need not wait for the disk
      // waits for nothing, and takes with it what may wait.
      if (isQuick && conditions.mayWait !== true) queueMicrotask(() => this.#flush());
      else if (this.#waiting.length === 0) setImmediate(() => this.#flush());
      const run = () => this.#write(thread, changes, conditions);
      this.#waiting.push({ run, done, failed, isQuick });
    });
  }

  async read(thread: string, keys: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    return explained(() => {
      const found = new Map<string, Uint8Array>();
      const id = this.#thread(thread)?.id;
      if (id === undefined) return found;
      for (const key of keys) {
        const sql = "SELECT value FROM records WHERE thread = ? AND key = ?";
        const row = this.#file.get<{ value: unknown }>(sql, id, key);
        if (row !== undefined) found.set(key, bytesOf(row.value));
      }
      return found;
    });
  }

  async scan(thread: string, options: ScanOptions): Promise<readonly ThreadRecord[]> {
    const id = explained(() => this.#thread(thread)?.id);
    if (id === undefined) return [];
    const { prefix, after = "", before = "\u{7f}", isReverse = false } = options;
    const sql = `SELECT key, ${options.isKeysOnly === true ? "x''" : "value"} AS value FROM records
      WHERE thread = ? AND key >= ? AND key < ? AND key > ? AND key < ?
      ORDER BY key ${isReverse ? "DESC" : "ASC"} LIMIT ?`;
    const ends = [prefix, `${prefix}\u{7f}`, after, before];
    const all = () => this.#file.all<ThreadRecord>(sql, id, ...ends, options.limit);
    return explained(all).map(({ key, value }) => ({ key, value: bytesOf(value) }));
  }

  async revision(thread: string): Promise<number> {
    return explained(() => this.#thread(thread)?.revision ?? 0);
  }

  async threads({ after, limit }: { after?: string; limit: number }): Promise<readonly string[]> {
    const sql =
      after === undefined
        ? "SELECT name FROM threads ORDER BY name LIMIT ?"
        : "SELECT name FROM threads WHERE name > ? ORDER BY name LIMIT ?";
    const values = after === undefined ? [limit] : [after, limit];
    return explained(() => this.#file.all<{ name: string }>(sql, ...values)).map(
      ({ name }) => name,
    );
  }

  async deleteThread(thread: string): Promise<void> {
    this.#flush();
    const remove = () => {
      const id = this.#thread(thread)?.id;
      if (id === undefined) return;
      this.#file.run("DELETE FROM records WHERE thread = ?", id);
      this.#file.run("DELETE FROM threads WHERE id = ?", id);
    };
    explained(() => this.#file.transaction(remove));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#flush();
    if (this.#syncing !== null) this.#sync();
    this.#file[Symbol.dispose]();
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 0) return;
    try {
      const isQuick = waiting.every((each) => each.isQuick);
      const runAll = () => waiting.map(({ run }) => run());
      const results = explained(() => this.#commit(isQuick, runAll));
      for (const [index, { done }] of waiting.entries()) done(results[index] as WriteResult);
    } catch (error) {
      // One that cannot be written must not take the others with it; a file that is locked has been
      // waited for, and each of them would wait again while the program stands still.
      const isForAll = waiting.length === 1 || hasCode(error, "STORE_UNREACHABLE");
      for (const each of waiting) {
        if (isForAll) each.failed(error);
        else this.#writeAlone(each);
      }
    }
  }

  /** One that waits for the disk takes those with it that have not waited. */
  #commit<T>(isQuick: boolean, change: () => T): T {
    this.#brought.clear();
    if (!isQuick) return this.#file.transaction(change);
    this.#syncing ??= setTimeout(() => this.#sync(), SYNCED_AFTER_MS).unref();
    return this.#file.quickTransaction(change);
  }

  #sync(): void {
    if (this.#syncing !== null) clearTimeout(this.#syncing);
    this.#syncing = null;
    try {
      this.#file.sync();
    } catch {
      // A full disk: the next write says so.
    }
  }

  #writeAlone({ run, done, failed, isQuick }: Waiting): void {
    try {
      done(explained(() => this.#commit(isQuick, run)));
    } catch (error) {
      failed(error);
    }
  }

  #write(
    name: string,
    changes: readonly Change[],
    { requires, ifRevision }: WriteConditions,
  ): WriteResult {
    const known = this.#thread(name);
    const isOther = ifRevision !== undefined && (known?.revision ?? 0) !== ifRevision;
    if (isOther || (requires !== undefined && !this.#has(known, requires))) {
      return { isDone: false, kept: [] };
    }
    const id = known?.id ?? this.#makeThread(name);
    this.#file.run("UPDATE threads SET revision = revision + 1 WHERE id = ?", id);
    const kept = changes.filter((change) => !this.#apply(id, change)).map(({ key }) => key);
    return { isDone: true, kept };
  }

  /** Returns false where another one stays that was first. */
  #apply(thread: number, { key, value, mode = "replace" }: Change): boolean {
    const content = `${thread} ${key}`;
    if (value === null) {
      this.#brought.delete(content);
      this.#file.run("DELETE FROM records WHERE thread = ? AND key = ?", thread, key);
      return true;
    }
    if (mode === "content") {
      if (this.#brought.has(content)) return true;
      this.#brought.add(content);
    }
    const columns = "INTO records (thread, key, value) VALUES (?, ?, ?)";
    if (mode === "replace") {
      const replaced = "ON CONFLICT (thread, key) DO UPDATE SET value = excluded.value";
      this.#file.run(`INSERT ${columns} ${replaced}`, thread, key, value);
      return true;
    }
    const added = this.#file.run(`INSERT OR IGNORE ${columns}`, thread, key, value);
    return mode === "content" || added > 0 || this.#isSame(thread, key, value);
  }

  #isSame(thread: number, key: string, value: Uint8Array): boolean {
    const sql = "SELECT 1 FROM records WHERE thread = ? AND key = ? AND value = ?";
    return this.#file.get(sql, thread, key, value) !== undefined;
  }

  #has(thread: Thread | undefined, key: string): boolean {
    if (thread === undefined) return false;
    const sql = "SELECT 1 FROM records WHERE thread = ? AND key = ?";
    return this.#file.get(sql, thread.id, key) !== undefined;
  }

  #thread(name: string): Thread | undefined {
    return this.#file.get<Thread>("SELECT id, revision FROM threads WHERE name = ?", name);
  }

  #makeThread(name: string): number {
    this.#file.run("INSERT INTO threads (name, revision) VALUES (?, 0)", name);
    return this.#thread(name)?.id ?? 0;
  }
}

/** SQLITE_BUSY and SQLITE_LOCKED. */
const RESULT_CODES_LOCKED = [5, 6];

/** Runs it, and says in the words of a store of records why it failed. */
function explained<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (error instanceof WaypointError) throw error;
    const code = error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : 0;
    const more = { detail: { reason: String(error) }, cause: error };
    if (RESULT_CODES_LOCKED.includes(code)) {
      throw new WaypointError("STORE_UNREACHABLE", "The file of checkpoints is locked.", {
        hint: "Another program writes it for long, or stands still in the middle of that.",
        ...more,
      });
    }
    if (error instanceof Error && "code" in error && error.code === "ERR_INVALID_STATE") {
      throw new WaypointError("USAGE_INVALID", "The file of checkpoints is closed.", {
        hint: "Close a saver after the last run that uses it.",
        ...more,
      });
    }
    const said = error instanceof Error ? error.message : "SQLite says nothing";
    throw new WaypointError("STORE_FAILED", `The file of checkpoints failed: ${said}.`, {
      hint: "Look whether its directory is there and may be written, and whether it is damaged.",
      ...more,
    });
  }
}

/** A record that somebody has made something else than bytes is as good as an empty one. */
function bytesOf(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : new Uint8Array();
}
