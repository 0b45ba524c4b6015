import { setImmediate as nextTurn } from "node:timers/promises";
import type { StoryRow } from "../../model/index.ts";
import type { SqliteFile } from "../../sqlite/index.ts";
import type { StoryEntry, StoryIndex } from "../story-index.ts";

/** Version of what is noted of a story; rows of another one are written anew. */
const INDEX_VERSION = 2;
const COLUMNS =
  "checkpoint, summary, intent, intentSource, intentExitCode, failedAfter, failedAfterExitCode";
/** Texts that are searched before others have their turn. */
const SEARCHED_AT_ONCE = 256;
const GLOB = /[*?[]/;

/**
 * What the timeline shows of stories and finds them by, in the catalog.
 *
 * Nothing here waits for the disk: what is lost with the power is written again from the stories.
 */
export class SqliteStoryIndex implements StoryIndex {
  readonly #file: SqliteFile;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  all(): StoryRow[] {
    return this.#file.all<StoryRow>(`SELECT ${COLUMNS} FROM stories`);
  }

  of(checkpoint: string): StoryRow | undefined {
    return this.#file.get<StoryRow>(
      `SELECT ${COLUMNS} FROM stories WHERE checkpoint = ?`,
      checkpoint,
    );
  }

  put({ touched, text, ...row }: StoryEntry): void {
    const { checkpoint } = row;
    this.#file.quickTransaction(() => {
      this.delete(checkpoint);
      this.#file.insert("stories", { ...row, indexVersion: INDEX_VERSION });
      const sql = "INSERT OR IGNORE INTO storyTouched (kind, name, checkpoint) VALUES (?, ?, ?)";
      for (const { kind, name } of touched) this.#file.run(sql, kind, name, checkpoint);
      if (text !== "") this.#file.insert("storyTexts", { checkpoint, text });
    });
  }

  delete(checkpoint: string): void {
    this.#file.run("DELETE FROM stories WHERE checkpoint = ?", checkpoint);
    this.#file.run("DELETE FROM storyTouched WHERE checkpoint = ?", checkpoint);
    this.#file.run("DELETE FROM storyTexts WHERE checkpoint = ?", checkpoint);
    this.#file.run("DELETE FROM storiesOverBudget WHERE checkpoint = ?", checkpoint);
  }

  overBudget(checkpoint: string): { count: number; reason: string } | undefined {
    return this.#file.get(
      "SELECT count, reason FROM storiesOverBudget WHERE checkpoint = ?",
      checkpoint,
    );
  }

  noteOverBudget(checkpoint: string, reason: string): void {
    this.#file.quickTransaction(() => {
      const sql = `INSERT INTO storiesOverBudget (checkpoint, count, reason) VALUES (?, 1, ?)
         ON CONFLICT (checkpoint) DO UPDATE SET count = count + 1, reason = excluded.reason`;
      this.#file.run(sql, checkpoint, reason);
    });
  }

  missing(): string[] {
    return this.#file
      .all<{ id: string }>(
        `SELECT id FROM checkpoints WHERE heldBy IS NULL AND id NOT IN
           (SELECT checkpoint FROM stories WHERE indexVersion = ?) ORDER BY createdAt DESC`,
        INDEX_VERSION,
      )
      .map(({ id }) => id);
  }

  touchingPath(path: string): Set<string> {
    const plain = tidyPath(path);
    // A name may have brackets in it: `[id].tsx` is found by itself, too.
    const isFromRoot = path.startsWith("/");
    const patterns = isFromRoot ? [plain] : anywhere(plain);
    const found = isFromRoot ? this.#touchingBelow(plain) : new Set<string>();
    for (const pattern of patterns.filter((each) => GLOB.test(each))) {
      for (const id of this.#touchingGlob(pattern)) found.add(id);
    }
    return found;
  }

  touchingPackage(name: string): Set<string> {
    return this.#ids(
      "SELECT DISTINCT checkpoint FROM storyTouched WHERE kind = 'package' AND lower(name) GLOB ?",
      name.toLowerCase(),
    );
  }

  unknown(section: "files" | "packages" | "commands"): Set<string> {
    return this.#ids(
      "SELECT checkpoint FROM storyTouched WHERE kind = 'unknown' AND name = ?",
      section,
    );
  }

  async saying(text: string): Promise<Set<string>> {
    const found = new Set<string>();
    const sql = "SELECT coalesce(max(rowid), 0) AS last FROM storyTexts";
    const last = this.#file.get<{ last: number }>(sql)?.last ?? 0;
    for (let after = 0; after < last; after += SEARCHED_AT_ONCE) {
      const part = this.#ids(
        "SELECT checkpoint FROM storyTexts WHERE rowid > ? AND rowid <= ? AND instr(text, ?) > 0",
        ...[after, after + SEARCHED_AT_ONCE, text.toLowerCase()],
      );
      for (const id of part) found.add(id);
      await nextTurn();
    }
    return found;
  }

  /** The path itself, what lies below it, and folders above it that stand for it. */
  #touchingBelow(path: string): Set<string> {
    return this.#ids(
      `SELECT checkpoint FROM storyTouched
         WHERE kind IN ('path', 'folder') AND (name = ? OR (name >= ? AND name < ?))
       UNION SELECT checkpoint FROM storyTouched
         WHERE kind = 'folder' AND name IN (SELECT value FROM json_each(?))`,
      ...[path, `${path}/`, `${path}0`, JSON.stringify(ancestorsOf(path))],
    );
  }

  /** A folder is known to hold what a pattern names only where the pattern begins with its name. */
  #touchingGlob(pattern: string): Set<string> {
    const known = pattern.slice(0, pattern.search(GLOB));
    return this.#ids(
      `SELECT checkpoint FROM storyTouched
         WHERE kind IN ('path', 'folder') AND (name GLOB ? OR name GLOB ?)
       UNION SELECT checkpoint FROM storyTouched
         WHERE kind = 'folder' AND substr(?, 1, length(name) + 1) = name || '/'`,
      ...[pattern, `${pattern}/*`, known],
    );
  }

  #ids(sql: string, ...values: (string | number)[]): Set<string> {
    const rows = this.#file.all<{ checkpoint: string }>(sql, ...values);
    return new Set(rows.map(({ checkpoint }) => checkpoint));
  }
}

/** Returns a path as stories have it: no slash twice or at its end; nothing for the root. */
function tidyPath(path: string): string {
  return path
    .replace(/\/+/g, "/")
    .replace(/(^|\/)(\.\/)+/g, "$1")
    .replace(/\/$/, "");
}

/** Returns the patterns for a name in whatever directory: as a pattern, and as it is written. */
function anywhere(name: string): string[] {
  const written = name.replace(/[*?[]/g, "[$&]");
  return [name.startsWith("*") ? name : `*/${name}`, `*/${written}`];
}

function ancestorsOf(path: string): string[] {
  const names = path.split("/").slice(1, -1);
  return names.map((_name, index) => `/${names.slice(0, index + 1).join("/")}`);
}
