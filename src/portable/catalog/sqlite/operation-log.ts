import type { OperationRow } from "../../model/index.ts";
import type { Row, SqliteFile } from "../../sqlite/index.ts";
import type { NewOperation, OperationLog } from "../operation-log.ts";

/** Operations that `undo` takes back. */
const MOVES = "'restore', 'undo', 'revert', 'merge'";

/** A row as SQLite holds it: the detail as JSON. */
type Stored = Omit<OperationRow, "detail"> & { detail: string | null };

/** What happened to sessions, in the catalog, with what is needed to take it back. */
export class SqliteOperationLog implements OperationLog {
  readonly #file: SqliteFile;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  all(session?: string): OperationRow[] {
    const sessions = session === undefined ? [] : [session];
    const where = session === undefined ? "" : "WHERE session = ?";
    return this.#file
      .all<Stored>(`SELECT * FROM operations ${where} ORDER BY id`, ...sessions)
      .map(fromStored);
  }

  get(id: number): OperationRow | undefined {
    const stored = this.#file.get<Stored>("SELECT * FROM operations WHERE id = ?", id);
    return stored === undefined ? undefined : fromStored(stored);
  }

  lastMove(session: string): OperationRow | undefined {
    const stored = this.#file.get<Stored>(
      `SELECT * FROM operations WHERE session = ? AND kind IN (${MOVES}) ORDER BY id DESC LIMIT 1`,
      session,
    );
    return stored === undefined ? undefined : fromStored(stored);
  }

  begun(): OperationRow[] {
    const sql = 'SELECT * FROM operations WHERE detail LIKE \'%"state":"begun"%\'';
    return this.#file.all<Stored>(sql).map(fromStored);
  }

  insert({ detail = null, ...row }: NewOperation): number {
    this.#file.insert("operations", { ...(row as Row), detail: toText(detail) });
    return this.#file.get<{ id: number }>("SELECT last_insert_rowid() AS id")?.id ?? 0;
  }

  update(id: number, { detail, readyMs }: Pick<OperationRow, "detail" | "readyMs">): void {
    const sql = "UPDATE operations SET detail = ?, readyMs = ? WHERE id = ?";
    this.#file.run(sql, toText(detail), readyMs, id);
  }

  putPaths(operation: number, paths: readonly string[]): void {
    for (const path of paths) this.#file.insert("operationPaths", { operation, path });
  }

  paths(operation: number): string[] {
    const sql = "SELECT path FROM operationPaths WHERE operation = ? ORDER BY path";
    return this.#file.all<{ path: string }>(sql, operation).map(({ path }) => path);
  }

  deleteOf(session: string): void {
    this.#file.run(
      "DELETE FROM operationPaths WHERE operation IN (SELECT id FROM operations WHERE session = ?)",
      session,
    );
    this.#file.run("DELETE FROM operations WHERE session = ?", session);
  }
}

function toText(detail: OperationRow["detail"]): string | null {
  return detail === null ? null : JSON.stringify(detail);
}

function fromStored(stored: Stored): OperationRow {
  return { ...stored, detail: stored.detail === null ? null : JSON.parse(stored.detail) };
}
