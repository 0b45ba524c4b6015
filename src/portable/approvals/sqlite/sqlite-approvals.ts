import { SqliteFile } from "../../sqlite/index.ts";
import type { Approval, ApprovalLog, ApprovalState } from "../approval-log.ts";

const MIGRATIONS = [
  `CREATE TABLE approvals (
     number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, session TEXT NOT NULL,
     sessionName TEXT NOT NULL, instance TEXT NOT NULL, fingerprint TEXT NOT NULL,
     command TEXT NOT NULL, rule TEXT NOT NULL, checkpoint TEXT NOT NULL, askedAt TEXT NOT NULL,
     expiresAt TEXT NOT NULL, state TEXT NOT NULL, settledAt TEXT, why TEXT, exitCode INTEGER
   ) STRICT;
   CREATE INDEX approvals_session ON approvals (session, number);
   CREATE INDEX approvals_open ON approvals (expiresAt) WHERE state IN ('waiting', 'approved');`,
];

const COLUMNS =
  "id, session, sessionName, instance, fingerprint, command, rule, checkpoint, askedAt, expiresAt, " +
  "state, settledAt, why, exitCode";

/** Approvals in a file of SQLite, which is made when the first one is asked for or looked for. */
export class SqliteApprovals implements ApprovalLog {
  readonly #open: () => SqliteFile;
  #opened: SqliteFile | null = null;

  /** @param path  returns where the file is; called when it is needed. */
  constructor(path: () => string) {
    this.#open = () => SqliteFile.open(path(), MIGRATIONS, "approvals");
  }

  [Symbol.dispose](): void {
    this.#opened?.[Symbol.dispose]();
  }

  insert(approval: Approval): void {
    this.#file.insert("approvals", { ...approval });
  }

  get(id: string): Approval | undefined {
    return this.#file.get<Approval>(`SELECT ${COLUMNS} FROM approvals WHERE id = ?`, id);
  }

  list({ session, countMax }: { session: string | null; countMax: number }): Approval[] {
    return this.#file.all<Approval>(
      `SELECT ${COLUMNS} FROM approvals WHERE ?1 IS NULL OR session = ?1
       ORDER BY state <> 'waiting', number DESC LIMIT ?2`,
      session,
      countMax,
    );
  }

  findOpen(asked: Pick<Approval, "session" | "instance" | "fingerprint">): Approval[] {
    const { session, instance, fingerprint } = asked;
    return this.#file.all<Approval>(
      `SELECT ${COLUMNS} FROM approvals
       WHERE session = ? AND instance = ? AND fingerprint = ? AND state IN ('waiting', 'approved')
       ORDER BY number`,
      session,
      instance,
      fingerprint,
    );
  }

  move(
    id: string,
    from: ApprovalState,
    { state, settledAt, why }: Pick<Approval, "state" | "settledAt" | "why">,
  ): boolean {
    const sql =
      "UPDATE approvals SET state = ?, settledAt = ?, why = COALESCE(?, why) WHERE id = ? AND state = ?";
    return this.#file.run(sql, state, settledAt, why, id, from) === 1;
  }

  expire(now: string): void {
    this.#file.run(
      `UPDATE approvals SET state = 'expired', settledAt = expiresAt
       WHERE state IN ('waiting', 'approved') AND expiresAt <= ?`,
      now,
    );
  }

  end(id: string, exitCode: number | null): void {
    this.#file.run("UPDATE approvals SET exitCode = ? WHERE id = ?", exitCode, id);
  }

  get #file(): SqliteFile {
    this.#opened ??= this.#open();
    return this.#opened;
  }
}
