import { randomUUID } from "node:crypto";
import { WaypointError } from "../../../shared/errors/index.ts";
import { checkChanges, threadBytes } from "../remote/check-write.ts";
import { keyRange } from "../remote/key-range.ts";
import type {
  Change,
  ScanOptions,
  ThreadRecord,
  ThreadRecords,
  WriteConditions,
  WriteResult,
} from "../thread-records.ts";
import {
  connectPostgres,
  type PostgresConnection,
  type PostgresOptions,
} from "./connect-postgres.ts";
import { FORMAT, KINDS, schemaSql } from "./schema.ts";

/** What a name of PostgreSQL has at most. */
const SCHEMA_BYTES_MAX = 63;
const READ_KEYS_MAX = 1000;

/** Records in a database of PostgreSQL: a write is one message and one transaction. */
export class PostgresRecords implements ThreadRecords {
  readonly #connection: PostgresConnection;
  /** An identifier in quotes. */
  readonly #schema: string;

  private constructor(connection: PostgresConnection, schema: string) {
    this.#connection = connection;
    this.#schema = schema;
  }

  /**
   * Connects, and makes the tables where they are missing; they stay as they are where they are not.
   *
   * @throws FORMAT_TOO_NEW  a newer Waypoint made them.
   * @throws USAGE_INVALID  the package `pg` is not installed, or the schema has no name.
   * @throws STORE_UNREACHABLE, STORE_FULL, STORE_FAILED
   */
  static async open(options: PostgresOptions): Promise<PostgresRecords> {
    const schema = quoted(options.schema ?? "waypoint");
    const connection = await connectPostgres(options);
    const records = new PostgresRecords(connection, schema);
    try {
      await records.#prepare();
      return records;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  async write(
    thread: string,
    changes: readonly Change[],
    { requires, ifRevision }: WriteConditions = {},
  ): Promise<WriteResult> {
    checkChanges(changes);
    const values = [
      ...[threadBytes(thread), randomUUID(), requires ?? null, ifRevision ?? null],
      ...columnsOf(changes),
    ];
    const marks = values.map((_, index) => `$${index + 1}`).join(", ");
    const sql = `SELECT is_done, kept FROM ${this.#schema}.write_1(${marks})`;
    const [row] = await this.#query<{ is_done: boolean; kept: string[] }>(sql, values);
    return { isDone: row?.is_done === true, kept: row?.kept ?? [] };
  }

  async read(thread: string, keys: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    const name = threadBytes(thread);
    const found = new Map<string, Uint8Array>();
    for (let at = 0; at < keys.length; at += READ_KEYS_MAX) {
      const sql = `SELECT key, value FROM ${this.#schema}.records
        WHERE thread = ${this.#thread()} AND key = ANY($2::text[])`;
      const some = keys.slice(at, at + READ_KEYS_MAX);
      const rows = await this.#query<ThreadRecord>(sql, [name, some]);
      for (const { key, value } of rows) found.set(key, value);
    }
    return found;
  }

  async scan(thread: string, options: ScanOptions): Promise<readonly ThreadRecord[]> {
    const { from, isFromInside, below } = keyRange(options);
    const { isReverse = false, isKeysOnly = false, limit } = options;
    const sql = `SELECT key, ${isKeysOnly ? "''::bytea AS value" : "value"}
      FROM ${this.#schema}.records
      WHERE thread = ${this.#thread()} AND key ${isFromInside ? ">=" : ">"} $2 AND key < $3
      ORDER BY key ${isReverse ? "DESC" : "ASC"} LIMIT $4`;
    return await this.#query<ThreadRecord>(sql, [threadBytes(thread), from, below, limit]);
  }

  async revision(thread: string): Promise<number> {
    const sql = `SELECT revision FROM ${this.#schema}.threads WHERE name = $1`;
    const [row] = await this.#query<{ revision: string }>(sql, [threadBytes(thread)]);
    return Number(row?.revision ?? 0);
  }

  async threads({ after, limit }: { after?: string; limit: number }): Promise<readonly string[]> {
    const sql = `SELECT name FROM ${this.#schema}.threads
      WHERE $1::bytea IS NULL OR name > $1 ORDER BY name LIMIT $2`;
    const start = after === undefined ? null : threadBytes(after);
    const rows = await this.#query<{ name: Buffer }>(sql, [start, limit]);
    return rows.map(({ name }) => name.toString());
  }

  async deleteThread(thread: string): Promise<void> {
    await this.#query(`SELECT ${this.#schema}.delete_1($1)`, [threadBytes(thread)]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
  }

  async #prepare(): Promise<void> {
    const there = "SELECT to_regclass($1) IS NOT NULL AS is_there";
    const [table] = await this.#query<{ is_there: boolean }>(there, [`${this.#schema}.format`]);
    const { pool, calls } = this.#connection;
    // Several statements in one message are one transaction.
    if (table?.is_there !== true) await calls.call(() => pool.query(schemaSql(this.#schema)));
    const sql = `SELECT version FROM ${this.#schema}.format`;
    const [format] = await this.#query<{ version: number }>(sql, []);
    const found = format?.version ?? 0;
    if (found <= FORMAT) return;
    throw new WaypointError("FORMAT_TOO_NEW", "The database was written by a newer Waypoint.", {
      hint: "Install that version again, or use another schema.",
      detail: { found, known: FORMAT },
    });
  }

  #thread(): string {
    return `(SELECT id FROM ${this.#schema}.threads WHERE name = $1)`;
  }

  async #query<Found>(sql: string, values: unknown[]): Promise<Found[]> {
    const { pool, calls } = this.#connection;
    return (await calls.call(() => pool.query(sql, values))).rows as Found[];
  }
}

/** Returns changes as the function takes them: columns, and all content one after the other. */
function columnsOf(changes: readonly Change[]): unknown[] {
  const content: Uint8Array[] = [];
  const counts = new Map<string, number>();
  const rounds: number[] = [];
  const starts: number[] = [];
  // PostgreSQL counts bytes from one.
  let start = 1;
  for (const { key, value } of changes) {
    const round = counts.get(key) ?? 0;
    counts.set(key, round + 1);
    rounds.push(round);
    starts.push(start);
    if (value === null) continue;
    content.push(value);
    start += value.length;
  }
  return [
    changes.map(({ key }) => key),
    changes.map(({ value, mode = "replace" }) => (value === null ? KINDS.remove : KINDS[mode])),
    starts,
    changes.map(({ value }) => value?.length ?? 0),
    rounds,
    rounds.reduce((most, round) => Math.max(most, round + 1), 0),
    Buffer.concat(content),
  ];
}

/** @throws USAGE_INVALID  it is none. */
function quoted(schema: string): string {
  const bytes = Buffer.byteLength(schema);
  if (bytes > 0 && bytes <= SCHEMA_BYTES_MAX && !schema.includes("\0")) {
    return `"${schema.replaceAll('"', '""')}"`;
  }
  throw new WaypointError("USAGE_INVALID", "That is no name of a schema of PostgreSQL.", {
    hint: `A name has 1 to ${SCHEMA_BYTES_MAX} bytes.`,
    detail: { schema: schema.slice(0, SCHEMA_BYTES_MAX) },
  });
}
