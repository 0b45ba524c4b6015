import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { WaypointError } from "../errors/index.ts";
import type {
  CheckpointContent,
  CheckpointStage,
  CheckpointTrigger,
  NetMode,
  OperationRecord,
  SessionState,
} from "../protocol/index.ts";
import { MIGRATIONS } from "./migrations.ts";

/** A session as the catalog keeps it. */
export interface SessionRow {
  id: string;
  name: string;
  state: SessionState;
  base: string;
  net: NetMode;
  user: string;
  cwd: string;
  createdAt: string;
  head: string | null;
  forkedFrom: string | null;
  /** The live or last incarnation: its subvolume, its mount, its network. */
  instance: string | null;
  /** Incarnations made so far; names the next one. */
  instanceCount: number;
}

/** One incarnation of a session: a row from before it is made until all of it is gone. */
export interface InstanceRow {
  id: string;
  session: string;
  pid: number | null;
  startTicks: number | null;
  address: string | null;
}

/** A checkpoint as the catalog and its manifest keep it. */
export interface CheckpointRow {
  id: string;
  session: string;
  sessionName: string;
  parent: string | null;
  name: string | null;
  intent: string | null;
  trigger: CheckpointTrigger;
  content: CheckpointContent;
  createdAt: string;
  pauseMs: number;
  totalMs: number;
  memoryBytes: number;
  stage: CheckpointStage;
  base: string;
  net: NetMode;
  user: string;
  cwd: string;
  /** Id of the main terminal in its init; `null` without processes. */
  terminal: number | null;
  kernel: string;
  criu: string;
  arch: string;
}

/** An operation as the log keeps it, with what `undo` needs to know. */
export interface OperationRow extends OperationRecord {
  /** State of the session before the operation; `null` where it had none. */
  stateBefore: SessionState | null;
}

type Row = Record<string, SQLInputValue>;

/**
 * The index of sessions, checkpoints and operations, in SQLite.
 *
 * The store is the truth: every checkpoint row can be read again from its manifest. Writes are
 * synced before they return, so that a checkpoint that was answered survives a power loss of the
 * daemon's machine as far as its stage says.
 */
export class Catalog implements Disposable {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  private constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Opens or makes the catalog. @throws FORMAT_TOO_NEW  a newer Waypoint has written it. */
  static open(catalogPath: string): Catalog {
    const db = new DatabaseSync(catalogPath);
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000;");
    const catalog = new Catalog(db);
    catalog.#migrate();
    return catalog;
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }

  /** Runs `change` as one transaction: all of it happens or nothing. */
  transaction<T>(change: () => T): T {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const result = change();
      this.#db.exec("COMMIT");
      return result;
    } catch (error) {
      this.#db.exec("ROLLBACK");
      throw error;
    }
  }

  sessions(): SessionRow[] {
    return this.#all<SessionRow>("SELECT * FROM sessions ORDER BY createdAt, id");
  }

  session(id: string): SessionRow | undefined {
    return this.#get<SessionRow>("SELECT * FROM sessions WHERE id = ?", id);
  }

  sessionByName(name: string): SessionRow | undefined {
    return this.#get<SessionRow>("SELECT * FROM sessions WHERE name = ?", name);
  }

  insertSession(row: SessionRow): void {
    this.#insert("sessions", { ...row });
  }

  updateSession(id: string, change: Partial<Omit<SessionRow, "id">>): void {
    this.#update("sessions", id, change);
  }

  deleteSession(id: string): void {
    this.#run("DELETE FROM sessions WHERE id = ?", id);
    this.#run("DELETE FROM operations WHERE session = ?", id);
  }

  instances(): InstanceRow[] {
    return this.#all<InstanceRow>("SELECT * FROM instances");
  }

  instance(id: string): InstanceRow | undefined {
    return this.#get<InstanceRow>("SELECT * FROM instances WHERE id = ?", id);
  }

  insertInstance(row: InstanceRow): void {
    this.#insert("instances", { ...row });
  }

  updateInstance(id: string, change: Partial<Omit<InstanceRow, "id">>): void {
    this.#update("instances", id, change);
  }

  deleteInstance(id: string): void {
    this.#run("DELETE FROM instances WHERE id = ?", id);
  }

  checkpoints(session?: string): CheckpointRow[] {
    if (session === undefined) {
      return this.#all<CheckpointRow>("SELECT * FROM checkpoints ORDER BY createdAt, rowid");
    }
    return this.#all<CheckpointRow>(
      "SELECT * FROM checkpoints WHERE session = ? ORDER BY createdAt, rowid",
      session,
    );
  }

  checkpoint(id: string): CheckpointRow | undefined {
    return this.#get<CheckpointRow>("SELECT * FROM checkpoints WHERE id = ?", id);
  }

  checkpointByName(name: string): CheckpointRow | undefined {
    return this.#get<CheckpointRow>("SELECT * FROM checkpoints WHERE name = ?", name);
  }

  checkpointsByPrefix(prefix: string, limit: number): CheckpointRow[] {
    return this.#all<CheckpointRow>(
      "SELECT * FROM checkpoints WHERE substr(id, 1, ?) = ? LIMIT ?",
      prefix.length,
      prefix,
      limit,
    );
  }

  insertCheckpoint(row: CheckpointRow): void {
    this.#insert("checkpoints", { ...row });
  }

  updateCheckpoint(id: string, change: Partial<Omit<CheckpointRow, "id">>): void {
    this.#update("checkpoints", id, change);
  }

  deleteCheckpoint(id: string): void {
    this.#run("DELETE FROM checkpoints WHERE id = ?", id);
  }

  operations(session?: string): OperationRow[] {
    if (session === undefined) {
      return this.#all<OperationRow>("SELECT * FROM operations ORDER BY id");
    }
    return this.#all<OperationRow>(
      "SELECT * FROM operations WHERE session = ? ORDER BY id",
      session,
    );
  }

  insertOperation(row: Omit<OperationRow, "id">): void {
    this.#insert("operations", { ...row });
  }

  #migrate(): void {
    const row = this.#get<{ user_version: number }>("PRAGMA user_version");
    const version = row?.user_version ?? 0;
    if (version > MIGRATIONS.length) {
      throw new WaypointError("FORMAT_TOO_NEW", "The catalog was written by a newer Waypoint.", {
        hint: "Install that version again, or set WAYPOINT_DIR to another directory.",
        detail: { found: version, known: MIGRATIONS.length },
      });
    }
    for (const [index, migration] of MIGRATIONS.entries()) {
      if (index < version) continue;
      this.transaction(() => {
        this.#db.exec(migration);
        this.#db.exec(`PRAGMA user_version = ${index + 1}`);
      });
    }
  }

  #insert(table: string, row: Row): void {
    const columns = Object.keys(row);
    const marks = columns.map(() => "?").join(", ");
    this.#run(
      `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${marks})`,
      ...Object.values(row),
    );
  }

  #update(table: string, id: string, change: object): void {
    const columns = Object.keys(change);
    if (columns.length === 0) return;
    const assignments = columns.map((column) => `${column} = ?`).join(", ");
    const values = Object.values(change) as SQLInputValue[];
    this.#run(`UPDATE ${table} SET ${assignments} WHERE id = ?`, ...values, id);
  }

  #run(sql: string, ...values: SQLInputValue[]): void {
    this.#prepare(sql).run(...values);
  }

  #get<T>(sql: string, ...values: SQLInputValue[]): T | undefined {
    return this.#prepare(sql).get(...values) as T | undefined;
  }

  #all<T>(sql: string, ...values: SQLInputValue[]): T[] {
    return this.#prepare(sql).all(...values) as T[];
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}
