import type { Caller } from "../../../shared/protocol/index.ts";
import { SqliteFile } from "../../sqlite/index.ts";
import type { Approval, ApprovalLog, ApprovalMove, ApprovalState } from "../approval-log.ts";

const MIGRATIONS = [
  `CREATE TABLE approvals (
     number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, session TEXT NOT NULL,
     sessionName TEXT NOT NULL, instance TEXT NOT NULL, fingerprint TEXT NOT NULL,
     command TEXT NOT NULL, rule TEXT NOT NULL, checkpoint TEXT NOT NULL, askedAt TEXT NOT NULL,
     expiresAt TEXT NOT NULL, state TEXT NOT NULL, settledAt TEXT, why TEXT, exitCode INTEGER
   ) STRICT;
   CREATE INDEX approvals_session ON approvals (session, number);
   CREATE INDEX approvals_open ON approvals (expiresAt) WHERE state IN ('waiting', 'approved');`,
  `ALTER TABLE approvals ADD COLUMN askedBy TEXT;
   ALTER TABLE approvals ADD COLUMN answeredBy TEXT;`,
];

const COLUMNS =
  "id, session, sessionName, instance, fingerprint, command, rule, checkpoint, askedAt, expiresAt, " +
  "state, settledAt, why, exitCode, askedBy, answeredBy";

/** A row as it is kept: who asked and who answered are JSON. */
type Kept = Omit<Approval, "askedBy" | "answeredBy"> &
  Record<"askedBy" | "answeredBy", string | null>;

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
    const { askedBy, answeredBy } = approval;
    const told = { askedBy: toText(askedBy), answeredBy: toText(answeredBy) };
    this.#file.insert("approvals", { ...approval, ...told });
  }

  get(id: string): Approval | undefined {
    const kept = this.#file.get<Kept>(`SELECT ${COLUMNS} FROM approvals WHERE id = ?`, id);
    return kept && toApproval(kept);
  }

  list({ session, countMax }: { session: string | null; countMax: number }): Approval[] {
    const kept = this.#file.all<Kept>(
      `SELECT ${COLUMNS} FROM approvals WHERE ?1 IS NULL OR session = ?1
       ORDER BY state <> 'waiting', number DESC LIMIT ?2`,
      session,
      countMax,
    );
    return kept.map(toApproval);
  }

  findOpen(asked: Pick<Approval, "session" | "instance" | "fingerprint">): Approval[] {
    const { session, instance, fingerprint } = asked;
    const kept = this.#file.all<Kept>(
      `SELECT ${COLUMNS} FROM approvals
       WHERE session = ? AND instance = ? AND fingerprint = ? AND state IN ('waiting', 'approved')
       ORDER BY number`,
      session,
      instance,
      fingerprint,
    );
    return kept.map(toApproval);
  }

  move(id: string, from: ApprovalState, to: ApprovalMove): boolean {
    const { state, settledAt, answeredBy, why } = to;
    const sql =
      "UPDATE approvals SET state = ?, settledAt = ?, why = COALESCE(?, why), " +
      "answeredBy = COALESCE(?, answeredBy) WHERE id = ? AND state = ?";
    return this.#file.run(sql, state, settledAt, why, toText(answeredBy), id, from) === 1;
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

function toText(caller: Caller | null): string | null {
  return caller === null ? null : JSON.stringify(caller);
}

function toApproval({ askedBy, answeredBy, ...kept }: Kept): Approval {
  return { ...kept, askedBy: toCaller(askedBy), answeredBy: toCaller(answeredBy) };
}

function toCaller(text: string | null): Caller | null {
  return text === null ? null : (JSON.parse(text) as Caller);
}
