import { existsSync, renameSync, rmSync } from "node:fs";
import { hasCode } from "../errors/index.ts";
import { MIGRATIONS } from "./migrations.ts";
import type { CheckpointRow, ForwardRow, InstanceRow, OperationRow, SessionRow } from "./rows.ts";
import { SqliteFile } from "./sqlite-file.ts";
import { fromStored, fromStoredIfAny, type Stored, toStored } from "./stored-lists.ts";

/**
 * Told of every session row after it was written, `null` after it was deleted, so that sessions
 * can be found again without the catalog.
 */
export type SessionMirror = (id: string, row: SessionRow | null) => void;

/** What never changes in a row. */
type Immutable = "id" | "binds" | "hostMounts";

/**
 * The index of sessions, checkpoints and operations, in SQLite.
 *
 * The store is the truth: every row of a session or checkpoint can be made again from what lies
 * there. A write has reached the disk when it returns.
 */
export class Catalog implements Disposable {
  /** True when the file was made by this call: what the store holds is not in it yet. */
  readonly isNew: boolean;
  readonly #file: SqliteFile;
  readonly #mirror: SessionMirror;
  readonly #changedSessions = new Set<string>();
  #isInTransaction = false;

  private constructor(file: SqliteFile, mirror: SessionMirror, isNew: boolean) {
    this.#file = file;
    this.#mirror = mirror;
    this.isNew = isNew;
  }

  /**
   * Opens or makes the catalog. A damaged one is kept aside and made anew.
   *
   * @throws FORMAT_TOO_NEW  a newer Waypoint has written it.
   */
  static open(catalogPath: string, mirror: SessionMirror): Catalog {
    const isNew = !existsSync(catalogPath);
    try {
      return new Catalog(new SqliteFile(catalogPath, MIGRATIONS), mirror, isNew);
    } catch (error) {
      if (isNew || hasCode(error, "FORMAT_TOO_NEW")) throw error;
      setAside(catalogPath);
      return new Catalog(new SqliteFile(catalogPath, MIGRATIONS), mirror, true);
    }
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }

  /** Runs `change` as one transaction: all of it happens or nothing. */
  transaction<T>(change: () => T): T {
    this.#isInTransaction = true;
    try {
      const result = this.#file.transaction(change);
      this.#mirrorChanges();
      return result;
    } finally {
      this.#isInTransaction = false;
      this.#changedSessions.clear();
    }
  }

  sessions(): SessionRow[] {
    return this.#file
      .all<Stored<SessionRow>>("SELECT * FROM sessions ORDER BY createdAt, id")
      .map(fromStored);
  }

  session(id: string): SessionRow | undefined {
    return fromStoredIfAny(
      this.#file.get<Stored<SessionRow>>("SELECT * FROM sessions WHERE id = ?", id),
    );
  }

  sessionByName(name: string): SessionRow | undefined {
    return fromStoredIfAny(
      this.#file.get<Stored<SessionRow>>("SELECT * FROM sessions WHERE name = ?", name),
    );
  }

  insertSession(row: SessionRow): void {
    this.#file.insert("sessions", toStored(row));
    this.#noteChange(row.id);
  }

  updateSession(id: string, change: Partial<Omit<SessionRow, Immutable>>): void {
    this.#file.update("sessions", id, change);
    this.#noteChange(id);
  }

  deleteSession(id: string): void {
    this.#file.run("DELETE FROM sessions WHERE id = ?", id);
    this.#file.run("DELETE FROM operations WHERE session = ?", id);
    this.#file.run("DELETE FROM forwards WHERE session = ?", id);
    this.#noteChange(id);
  }

  instances(): InstanceRow[] {
    return this.#file.all<InstanceRow>("SELECT * FROM instances");
  }

  instance(id: string): InstanceRow | undefined {
    return this.#file.get<InstanceRow>("SELECT * FROM instances WHERE id = ?", id);
  }

  insertInstance(row: InstanceRow): void {
    this.#file.insert("instances", { ...row });
  }

  updateInstance(id: string, change: Partial<Omit<InstanceRow, "id">>): void {
    this.#file.update("instances", id, change);
  }

  deleteInstance(id: string): void {
    this.#file.run("DELETE FROM instances WHERE id = ?", id);
  }

  checkpoints(session?: string): CheckpointRow[] {
    if (session === undefined) {
      return this.#file
        .all<Stored<CheckpointRow>>("SELECT * FROM checkpoints ORDER BY createdAt, rowid")
        .map(fromStored);
    }
    return this.#file
      .all<Stored<CheckpointRow>>(
        "SELECT * FROM checkpoints WHERE session = ? ORDER BY createdAt, rowid",
        session,
      )
      .map(fromStored);
  }

  checkpoint(id: string): CheckpointRow | undefined {
    return fromStoredIfAny(
      this.#file.get<Stored<CheckpointRow>>("SELECT * FROM checkpoints WHERE id = ?", id),
    );
  }

  checkpointByName(name: string): CheckpointRow | undefined {
    return fromStoredIfAny(
      this.#file.get<Stored<CheckpointRow>>("SELECT * FROM checkpoints WHERE name = ?", name),
    );
  }

  checkpointsByPrefix(prefix: string, limit: number): CheckpointRow[] {
    return this.#file
      .all<Stored<CheckpointRow>>(
        "SELECT * FROM checkpoints WHERE substr(id, 1, ?) = ? LIMIT ?",
        prefix.length,
        prefix,
        limit,
      )
      .map(fromStored);
  }

  insertCheckpoint(row: CheckpointRow): void {
    this.#file.insert("checkpoints", toStored(row));
  }

  updateCheckpoint(id: string, change: Partial<Omit<CheckpointRow, Immutable>>): void {
    this.#file.update("checkpoints", id, change);
  }

  deleteCheckpoint(id: string): void {
    this.#file.run("DELETE FROM checkpoints WHERE id = ?", id);
  }

  operations(session?: string): OperationRow[] {
    if (session === undefined) {
      return this.#file.all<OperationRow>("SELECT * FROM operations ORDER BY id");
    }
    return this.#file.all<OperationRow>(
      "SELECT * FROM operations WHERE session = ? ORDER BY id",
      session,
    );
  }

  insertOperation(row: Omit<OperationRow, "id">): void {
    this.#file.insert("operations", { ...row });
  }

  forwards(): ForwardRow[] {
    return this.#file.all<ForwardRow>("SELECT * FROM forwards ORDER BY hostPort");
  }

  insertForward(row: ForwardRow): void {
    this.#file.insert("forwards", { ...row });
  }

  deleteForward(hostPort: number): void {
    this.#file.run("DELETE FROM forwards WHERE hostPort = ?", hostPort);
  }

  #noteChange(sessionId: string): void {
    this.#changedSessions.add(sessionId);
    if (!this.#isInTransaction) this.#mirrorChanges();
  }

  #mirrorChanges(): void {
    for (const id of this.#changedSessions) this.#mirror(id, this.session(id) ?? null);
    this.#changedSessions.clear();
  }
}

/** A damaged catalog may still be of use to a person; it is renamed, never deleted. */
function setAside(catalogPath: string): void {
  const suffix = new Date().toISOString().replaceAll(":", "-");
  renameSync(catalogPath, `${catalogPath}.damaged-${suffix}`);
  for (const ending of ["-wal", "-shm"]) rmSync(`${catalogPath}${ending}`, { force: true });
}
