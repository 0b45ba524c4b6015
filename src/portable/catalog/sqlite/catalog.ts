import { existsSync } from "node:fs";
import { hasCode } from "../../../shared/errors/index.ts";
import {
  type CheckpointRow,
  type ForwardRow,
  type InstanceRow,
  type SessionRow,
  TIMELINE_COLUMNS,
  type TimelineRow,
} from "../../model/index.ts";
import { isUnwritable, SqliteFile } from "../../sqlite/index.ts";
import type { Catalog, Immutable, LineRow } from "../catalog.ts";
import type { SessionMirror } from "../session-mirror.ts";
import { SqliteCommandLog } from "./command-log.ts";
import { countNamed } from "./count-named.ts";
import { MIGRATIONS } from "./migrations.ts";
import { SqliteOperationLog } from "./operation-log.ts";
import { copyCatalog, freshCatalog, setAside } from "./set-aside.ts";
import { fromStored, fromStoredIfAny, type Stored, toStored } from "./stored-lists.ts";
import { SqliteStoryIndex } from "./story-index.ts";
import { SqliteVerificationLog } from "./verification-log.ts";

/** The catalog in a file of SQLite. */
export class SqliteCatalog implements Catalog {
  readonly isNew: boolean;
  readonly commands: SqliteCommandLog;
  readonly verifications: SqliteVerificationLog;
  readonly operations: SqliteOperationLog;
  readonly stories: SqliteStoryIndex;
  readonly #file: SqliteFile;
  readonly #mirror: SessionMirror;
  readonly #changedSessions = new Set<string>();
  /** Those whose last change was a quick one. */
  readonly #unsyncedSessions = new Set<string>();
  #isInTransaction = false;

  private constructor(file: SqliteFile, mirror: SessionMirror, isNew: boolean) {
    this.#file = file;
    this.#mirror = mirror;
    this.isNew = isNew;
    this.commands = new SqliteCommandLog(file);
    this.verifications = new SqliteVerificationLog(file);
    this.operations = new SqliteOperationLog(file);
    this.stories = new SqliteStoryIndex(file);
  }

  /**
   * Opens or makes the catalog. A damaged one is kept aside and made anew; one that cannot be written,
   * for want of room as a rule, is worked on as a copy in memory, which this daemon's end takes with it.
   *
   * @param options.copyDir  a directory in memory; `null`: such a catalog is an error.
   * @param options.mayMake  false where a new one could not be filled from the store: it is in memory
   * then, so that the daemon that finds the store mended makes it.
   * @throws FORMAT_TOO_NEW  a newer Waypoint has written it.
   */
  static open(
    catalogPath: string,
    mirror: SessionMirror,
    { copyDir = null, mayMake = true }: { copyDir?: string | null; mayMake?: boolean } = {},
  ): SqliteCatalog {
    if (!mayMake && copyDir !== null && countNamed(catalogPath) === null) {
      const file = SqliteFile.open(freshCatalog(catalogPath, copyDir), MIGRATIONS, "catalog");
      return new SqliteCatalog(file, mirror, true);
    }
    const isNew = !existsSync(catalogPath);
    try {
      return new SqliteCatalog(SqliteFile.open(catalogPath, MIGRATIONS, "catalog"), mirror, isNew);
    } catch (error) {
      if (isNew || hasCode(error, "FORMAT_TOO_NEW")) throw error;
      if (isUnwritable(error)) {
        if (copyDir === null) throw error;
        const copyPath = copyCatalog(catalogPath, copyDir);
        return new SqliteCatalog(SqliteFile.open(copyPath, MIGRATIONS, "catalog"), mirror, false);
      }
      setAside(catalogPath);
      return new SqliteCatalog(SqliteFile.open(catalogPath, MIGRATIONS, "catalog"), mirror, true);
    }
  }

  /** Opens the catalog of a daemon that runs, in another process and to read it alone. */
  static openForReading(catalogPath: string): SqliteCatalog {
    return new SqliteCatalog(SqliteFile.openForReading(catalogPath, "catalog"), () => {}, false);
  }

  [Symbol.dispose](): void {
    this.sync();
    this.#file[Symbol.dispose]();
  }

  transaction<T>(change: () => T): T {
    return this.#run(() => {
      const result = this.#file.transaction(change);
      this.#mirrorChanges();
      return result;
    });
  }

  quickTransaction<T>(change: () => T): T {
    return this.#run(() => {
      const result = this.#file.quickTransaction(change);
      for (const id of this.#changedSessions) this.#unsyncedSessions.add(id);
      return result;
    });
  }

  sync(): void {
    if (this.#unsyncedSessions.size === 0) return;
    this.#file.sync();
    for (const id of this.#unsyncedSessions) this.#changedSessions.add(id);
    this.#unsyncedSessions.clear();
    this.#mirrorChanges();
  }

  #run<T>(transact: () => T): T {
    this.#isInTransaction = true;
    try {
      return transact();
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
    this.operations.deleteOf(id);
    this.#file.run("DELETE FROM forwards WHERE session = ?", id);
    this.#file.run("DELETE FROM sessionForwards WHERE session = ? OR toSession = ?", id, id);
    this.#noteChange(id);
  }

  instances(): InstanceRow[] {
    return this.#file.all<InstanceRow>("SELECT * FROM instances");
  }

  instance(id: string): InstanceRow | undefined {
    return this.#file.get<InstanceRow>("SELECT * FROM instances WHERE id = ?", id);
  }

  // Quick: what a loss of power leaves of an instance is its files, and the store lists those.
  insertInstance(row: Pick<InstanceRow, "id" | "session"> & Partial<InstanceRow>): void {
    this.#file.quickTransaction(() => this.#file.insert("instances", { ...row }));
  }

  updateInstance(id: string, change: Partial<Omit<InstanceRow, "id">>): void {
    this.#file.quickTransaction(() => this.#file.update("instances", id, change));
  }

  deleteInstance(id: string): void {
    this.#file.quickTransaction(() => {
      this.#file.run("DELETE FROM instances WHERE id = ?", id);
      this.commands.deleteForgotten();
    });
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

  timeline(): TimelineRow[] {
    const columns = TIMELINE_COLUMNS.join(", ");
    return this.#file.all(`SELECT ${columns} FROM checkpoints ORDER BY createdAt, rowid`);
  }

  line(id: string | null): LineRow[] {
    if (id === null) return [];
    return this.#file.all(
      `WITH RECURSIVE line (id, session, parent, depth) AS (
         SELECT id, session, parent, 0 FROM checkpoints WHERE id = ?
         UNION ALL
         SELECT above.id, above.session, above.parent, depth + 1
         FROM checkpoints AS above JOIN line ON above.id = line.parent
       ) SELECT id, session, parent FROM line ORDER BY depth`,
      id,
    );
  }

  lines(): LineRow[] {
    return this.#file.all("SELECT id, session, parent FROM checkpoints");
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
    this.stories.delete(id);
    this.commands.deleteCapture(id);
    this.verifications.deleteOf(id);
  }

  heldCheckpoints(): CheckpointRow[] {
    return this.#file
      .all<Stored<CheckpointRow>>("SELECT * FROM checkpoints WHERE heldBy IS NOT NULL")
      .map(fromStored);
  }

  forwards(): ForwardRow[] {
    return this.#file.all<ForwardRow>(
      `SELECT session, port, hostPort, NULL AS "to" FROM forwards
       UNION ALL SELECT session, port, toPort, toSession FROM sessionForwards ORDER BY hostPort, "to"`,
    );
  }

  insertForward(row: ForwardRow): void {
    const { to, hostPort, ...from } = row;
    if (to === null) this.#file.insert("forwards", { ...from, hostPort });
    else this.#file.insert("sessionForwards", { ...from, toSession: to, toPort: hostPort });
  }

  deleteForward({ hostPort, to }: ForwardRow): void {
    if (to === null) this.#file.run("DELETE FROM forwards WHERE hostPort = ?", hostPort);
    else {
      const row = "toSession = ? AND toPort = ?";
      this.#file.run(`DELETE FROM sessionForwards WHERE ${row}`, to, hostPort);
    }
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
