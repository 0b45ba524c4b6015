import { SqliteFile } from "../../sqlite/index.ts";
import {
  addCounted,
  type ContactJournal,
  type Counted,
  keepLargest,
  type NamedAddresses,
  NOTHING_COUNTED,
} from "../contact.ts";

/** What is kept of one interval by name; the rest is added up. */
const CONTACTS_MAX = 500;
/** Pairs of a name and an address that are kept of one session. */
const NAMES_MAX = 4096;

const MIGRATIONS = [
  `CREATE TABLE intervals (
     id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, instance TEXT NOT NULL,
     checkpoint TEXT, at TEXT NOT NULL, counted TEXT NOT NULL
   ) STRICT;
   CREATE INDEX intervals_session ON intervals (session, at);
   CREATE INDEX intervals_open ON intervals (instance) WHERE checkpoint IS NULL;
   CREATE INDEX intervals_checkpoint ON intervals (checkpoint) WHERE checkpoint IS NOT NULL;
   CREATE TABLE briefs (
     checkpoint TEXT PRIMARY KEY, session TEXT NOT NULL, brief TEXT NOT NULL
   ) STRICT;
   CREATE TABLE instances (
     instance TEXT PRIMARY KEY, session TEXT NOT NULL, counted TEXT NOT NULL
   ) STRICT;
   CREATE TABLE names (
     id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, address TEXT NOT NULL,
     name TEXT NOT NULL, UNIQUE (session, address, name)
   ) STRICT;`,
];

/** How the file is reached: it is opened when there is something in it, or first to be noted. */
interface Place {
  isThere: () => boolean;
  path: () => string;
}

/** Contacts in a file of SQLite; the next change of any other file brings them to the disk. */
export class SqliteContacts implements ContactJournal {
  readonly #place: Place;
  #file: SqliteFile | undefined;

  constructor(place: Place) {
    this.#place = place;
  }

  [Symbol.dispose](): void {
    this.#file?.[Symbol.dispose]();
    this.#file = undefined;
  }

  countedOf(instance: string): Counted {
    const sql = "SELECT counted FROM instances WHERE instance = ?";
    const row = this.#found()?.get<{ counted: string }>(sql, instance);
    return row === undefined ? NOTHING_COUNTED : JSON.parse(row.counted);
  }

  note(
    { session, instance, at, since }: Parameters<ContactJournal["note"]>[0],
    counted: Counted,
  ): void {
    const file = this.#open();
    file.quickTransaction(() => {
      const kept = JSON.stringify(keepLargest(since, CONTACTS_MAX));
      file.insert("intervals", { session, instance, checkpoint: null, at, counted: kept });
      file.run(
        `INSERT INTO instances (instance, session, counted) VALUES (?, ?, ?)
         ON CONFLICT (instance) DO UPDATE SET counted = excluded.counted`,
        ...[instance, session, JSON.stringify(counted)],
      );
    });
  }

  capture(
    instance: string,
    { id, until }: { id: string; until: string },
    describe: (since: Counted) => string,
  ): void {
    const file = this.#found();
    const open = "instance = ? AND checkpoint IS NULL AND at <= ?";
    const sql = `SELECT session FROM intervals WHERE ${open} LIMIT 1`;
    const session = file?.get<{ session: string }>(sql, instance, until)?.session;
    if (session === undefined) return;
    const brief = describe(this.#sum(open, instance, until));
    file?.quickTransaction(() => {
      file.run(`UPDATE intervals SET checkpoint = ? WHERE ${open}`, id, instance, until);
      file.run(
        "INSERT OR REPLACE INTO briefs (checkpoint, session, brief) VALUES (?, ?, ?)",
        ...[id, session, brief],
      );
    });
  }

  after(session: string, at: string): Counted {
    return this.#sum("session = ? AND at > ?", session, at);
  }

  of(checkpoint: string): Counted {
    return this.#sum("checkpoint = ?", checkpoint);
  }

  briefs(): Map<string, string> {
    const sql = "SELECT checkpoint, brief FROM briefs WHERE brief <> ''";
    const rows = this.#found()?.all<{ checkpoint: string; brief: string }>(sql) ?? [];
    return new Map(rows.map(({ checkpoint, brief }) => [checkpoint, brief]));
  }

  learn(session: string, names: readonly NamedAddresses[]): void {
    const file = this.#open();
    file.quickTransaction(() => {
      for (const { name, addresses } of names) {
        for (const address of addresses) {
          file.run(
            "INSERT OR REPLACE INTO names (session, address, name) VALUES (?, ?, ?)",
            ...[session, address, name],
          );
        }
      }
      file.run(
        `DELETE FROM names WHERE session = ?1 AND id <=
           (SELECT id FROM names WHERE session = ?1 ORDER BY id DESC LIMIT 1 OFFSET ${NAMES_MAX})`,
        session,
      );
    });
  }

  namesOf(session: string): Map<string, string[]> {
    const sql = "SELECT address, name FROM names WHERE session = ? ORDER BY id DESC";
    const names = new Map<string, string[]>();
    for (const row of this.#found()?.all<{ address: string; name: string }>(sql, session) ?? []) {
      names.set(row.address, [...(names.get(row.address) ?? []), row.name]);
    }
    return names;
  }

  remove(session: string): void {
    const file = this.#found();
    file?.quickTransaction(() => {
      for (const table of ["intervals", "instances", "names", "briefs"]) {
        file.run(`DELETE FROM ${table} WHERE session = ?`, session);
      }
    });
  }

  forgetInstance(instance: string): void {
    const file = this.#found();
    file?.quickTransaction(() => file.run("DELETE FROM instances WHERE instance = ?", instance));
  }

  #sum(where: string, ...values: string[]): Counted {
    const sql = `SELECT counted FROM intervals WHERE ${where} ORDER BY id`;
    const rows = this.#found()?.all<{ counted: string }>(sql, ...values) ?? [];
    return addCounted(rows.map(({ counted }) => JSON.parse(counted) as Counted));
  }

  #found(): SqliteFile | undefined {
    return this.#file !== undefined || this.#place.isThere() ? this.#open() : undefined;
  }

  #open(): SqliteFile {
    this.#file ??= SqliteFile.open(this.#place.path(), MIGRATIONS, "journal of contacts");
    return this.#file;
  }
}
