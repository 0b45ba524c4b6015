import { SqliteFile } from "../../sqlite/index.ts";
import type { Decision, DecisionLog } from "../decision.ts";

const MIGRATIONS = [
  `CREATE TABLE decisions (
     id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, tree TEXT NOT NULL,
     at TEXT NOT NULL, instance TEXT, checkpoint TEXT, choice TEXT NOT NULL, reason TEXT,
     alternatives TEXT NOT NULL, task TEXT, command TEXT
   ) STRICT;
   CREATE INDEX decisions_tree ON decisions (tree, id);
   CREATE INDEX decisions_open ON decisions (instance) WHERE checkpoint IS NULL;`,
];

type DecisionRow = Omit<Decision, "alternatives"> & { alternatives: string };

/** How the file is reached: it is opened when there is something in it, or first to be noted. */
interface Place {
  isThere: () => boolean;
  path: () => string;
}

/** Decisions in a file of SQLite, which is synced to the disk at each change. */
export class SqliteDecisions implements DecisionLog {
  readonly #place: Place;
  #file: SqliteFile | undefined;

  constructor(place: Place) {
    this.#place = place;
  }

  [Symbol.dispose](): void {
    this.#file?.[Symbol.dispose]();
    this.#file = undefined;
  }

  add(decision: Omit<Decision, "id" | "checkpoint">): Decision {
    const file = this.#open();
    return file.transaction(() => {
      const alternatives = JSON.stringify(decision.alternatives);
      file.insert("decisions", { ...decision, alternatives, checkpoint: null });
      const id = file.get<{ id: number }>("SELECT max(id) AS id FROM decisions")?.id ?? 0;
      return { ...decision, id, checkpoint: null };
    });
  }

  of(tree: string): Decision[] {
    const sql = "SELECT * FROM decisions WHERE tree = ? ORDER BY id";
    return (this.#found()?.all<DecisionRow>(sql, tree) ?? []).map(fromRow);
  }

  all(): Decision[] {
    const sql = "SELECT * FROM decisions ORDER BY id";
    return (this.#found()?.all<DecisionRow>(sql) ?? []).map(fromRow);
  }

  capture(instance: string, checkpoint: string, { until }: { until: string }): void {
    const file = this.#found();
    // What is later than now was made before the clock was put back.
    const open = "instance = ? AND checkpoint IS NULL AND (at <= ? OR at > ?)";
    const which = [instance, until, new Date().toISOString()] as const;
    // Nothing is written, and nothing synced, where nothing was decided.
    const found = file?.get(`SELECT 1 FROM decisions WHERE ${open} LIMIT 1`, ...which);
    if (file === undefined || found === undefined) return;
    const sql = `UPDATE decisions SET checkpoint = ? WHERE ${open}`;
    file.transaction(() => file.run(sql, checkpoint, ...which));
  }

  remove(tree: string): void {
    const file = this.#found();
    file?.transaction(() => file.run("DELETE FROM decisions WHERE tree = ?", tree));
  }

  #found(): SqliteFile | undefined {
    return this.#file !== undefined || this.#place.isThere() ? this.#open() : undefined;
  }

  #open(): SqliteFile {
    this.#file ??= SqliteFile.open(this.#place.path(), MIGRATIONS, "log of decisions");
    return this.#file;
  }
}

function fromRow(row: DecisionRow): Decision {
  return { ...row, alternatives: JSON.parse(row.alternatives) };
}
