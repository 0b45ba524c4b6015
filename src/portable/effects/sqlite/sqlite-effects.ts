import { SqliteFile } from "../../sqlite/index.ts";
import type { Effect, EffectJournal } from "../effect.ts";

const MIGRATIONS = [
  `CREATE TABLE effects (
     id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, key TEXT NOT NULL,
     inputHash TEXT NOT NULL, what TEXT NOT NULL, irreversible INTEGER NOT NULL, compensate TEXT,
     state TEXT NOT NULL, attempts INTEGER NOT NULL, ownerPid INTEGER, ownerStartTicks INTEGER,
     startedAt TEXT NOT NULL, endedAt TEXT, outcome TEXT, UNIQUE (session, key)
   ) STRICT;`,
  `ALTER TABLE effects ADD COLUMN compensatedByProgram INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE effects ADD COLUMN compensationError TEXT;`,
];

const COLUMNS = [
  ...["session", "key", "inputHash", "what", "irreversible", "compensate", "state", "attempts"],
  ...["ownerPid", "ownerStartTicks", "startedAt", "endedAt", "outcome"],
  ...["compensatedByProgram", "compensationError"],
];
const SELECT = `SELECT ${COLUMNS.join(", ")} FROM effects`;

type EffectRow = Omit<Effect, "owner" | "irreversible" | "compensatedByProgram"> & {
  irreversible: number;
  compensatedByProgram: number;
  ownerPid: number | null;
  ownerStartTicks: number | null;
};

/** Effects in a file of SQLite, which is synced to the disk at each change. */
export class SqliteEffects implements EffectJournal {
  readonly #file: SqliteFile;

  private constructor(file: SqliteFile) {
    this.#file = file;
  }

  /**
   * Opens or makes the file.
   *
   * @throws FORMAT_TOO_NEW  a newer Waypoint has written it; a plain error when it is damaged.
   */
  static open(path: string): SqliteEffects {
    return new SqliteEffects(SqliteFile.open(path, MIGRATIONS, "journal of effects"));
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }

  get(session: string, key: string): Effect | undefined {
    const sql = `${SELECT} WHERE session = ? AND key = ?`;
    const row = this.#file.get<EffectRow>(sql, session, key);
    return row === undefined ? undefined : effectOf(row);
  }

  of(session: string): Effect[] {
    const sql = `${SELECT} WHERE session = ? ORDER BY id`;
    return this.#file.all<EffectRow>(sql, session).map(effectOf);
  }

  put({ owner, irreversible, compensatedByProgram, ...effect }: Effect): void {
    const row = {
      ...effect,
      irreversible: irreversible ? 1 : 0,
      compensatedByProgram: compensatedByProgram ? 1 : 0,
      ownerPid: owner?.pid ?? null,
      ownerStartTicks: owner?.startTicks ?? null,
    };
    const { session, key } = effect;
    this.#file.transaction(() => {
      const known = this.#file.get<{ id: number }>(
        "SELECT id FROM effects WHERE session = ? AND key = ?",
        session,
        key,
      );
      if (known === undefined) return this.#file.insert("effects", row);
      const changes = COLUMNS.map((column) => `${column} = ?`).join(", ");
      const values = COLUMNS.map((column) => row[column as keyof typeof row]);
      this.#file.run(`UPDATE effects SET ${changes} WHERE id = ?`, ...values, known.id);
    });
  }

  copy(from: string, to: string): void {
    const others = COLUMNS.filter((column) => column !== "session").join(", ");
    const sql = `INSERT INTO effects (session, ${others})
                 SELECT ?, ${others} FROM effects WHERE session = ? ORDER BY id`;
    this.#file.transaction(() => this.#file.run(sql, to, from));
  }

  remove(session: string): void {
    this.#file.transaction(() => this.#file.run("DELETE FROM effects WHERE session = ?", session));
  }
}

function effectOf(found: EffectRow): Effect {
  const { ownerPid, ownerStartTicks, irreversible, compensatedByProgram, ...row } = found;
  const isOwned = ownerPid !== null && ownerStartTicks !== null;
  const owner = isOwned ? { pid: ownerPid, startTicks: ownerStartTicks } : null;
  const flags = {
    irreversible: irreversible === 1,
    compensatedByProgram: compensatedByProgram === 1,
  };
  return { ...row, ...flags, owner };
}
