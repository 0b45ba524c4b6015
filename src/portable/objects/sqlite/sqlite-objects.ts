import { deflateRawSync, inflateRawSync } from "node:zlib";
import { WaypointError } from "../../../shared/errors/index.ts";
import { SqliteFile } from "../../sqlite/index.ts";
import { type KeptObjects, type ObjectId, objectIdOf } from "../object-store.ts";

const MIGRATIONS = [
  // `length` is that of the object itself where `bytes` are deflated, else null.
  "CREATE TABLE objects (id BLOB PRIMARY KEY, length INTEGER, bytes BLOB NOT NULL);",
];
/** A log of 1 MiB: it is on the disk beside objects that are as small themselves. */
const OPTIONS = { logPages: 256 };
/** Shorter ones gain nothing. */
const DEFLATED_BYTES_MIN = 128;

interface StoredObject {
  length: number | null;
  bytes: Uint8Array;
}

/** Objects in a file of SQLite, deflated where that makes them shorter. */
export class SqliteObjects implements KeptObjects {
  readonly #file: SqliteFile;

  private constructor(file: SqliteFile) {
    this.#file = file;
  }

  /**
   * Opens or makes the file.
   *
   * @throws FORMAT_TOO_NEW  a newer Waypoint has written it; a plain error when it is damaged.
   */
  static open(path: string): SqliteObjects {
    return new SqliteObjects(SqliteFile.open(path, MIGRATIONS, "agents' state", OPTIONS));
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }

  /** Runs `change`: what it puts and removes has reached the disk when this returns, or nothing has. */
  transaction<T>(change: () => T): T {
    return this.#file.transaction(change);
  }

  put(bytes: Uint8Array): ObjectId {
    const id = objectIdOf(bytes);
    const key = Buffer.from(id, "base64url");
    const known = this.#file.get("SELECT 1 FROM objects WHERE id = ?", key);
    if (known === undefined) this.#file.insert("objects", { id: key, ...deflate(bytes) });
    return id;
  }

  /** @throws STORE_FAILED  what is there is not what was put. */
  get(id: ObjectId): Uint8Array | undefined {
    const sql = "SELECT length, bytes FROM objects WHERE id = ?";
    const stored = this.#file.get<StoredObject>(sql, Buffer.from(id, "base64url"));
    if (stored === undefined) return undefined;
    const bytes = inflate(stored);
    if (bytes !== null && objectIdOf(bytes) === id) return bytes;
    throw new WaypointError("STORE_FAILED", `Object ${id} is damaged.`, {
      hint: "Other checkpoints may not need it: look at their state.",
    });
  }

  /** Removes all objects but these, and returns how many went. Their room is used again. */
  keepOnly(ids: ReadonlySet<ObjectId>): number {
    return this.transaction(() => {
      const all = this.#file.all<{ id: Uint8Array }>("SELECT id FROM objects");
      const gone = all.filter(({ id }) => !ids.has(Buffer.from(id).toString("base64url")));
      for (const { id } of gone) this.#file.run("DELETE FROM objects WHERE id = ?", id);
      return gone.length;
    });
  }
}

function deflate(bytes: Uint8Array): { length: number | null; bytes: Uint8Array } {
  if (bytes.length < DEFLATED_BYTES_MIN) return { length: null, bytes };
  const deflated = deflateRawSync(bytes);
  return deflated.length < bytes.length
    ? { length: bytes.length, bytes: deflated }
    : { length: null, bytes };
}

/** Returns null where it cannot be made again. */
function inflate({ length, bytes }: StoredObject): Uint8Array | null {
  if (length === null) return bytes;
  try {
    return inflateRawSync(bytes, { maxOutputLength: Math.max(1, length) });
  } catch {
    return null;
  }
}
