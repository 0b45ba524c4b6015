import { importClient } from "../remote/import-client.ts";
import { codeOf, type Failure, ServerCalls, secretsOf } from "../remote/server-calls.ts";

/** What is used of a pool of the package `pg`. */
export interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

export interface PostgresOptions {
  /**
   * An address such as `postgresql://user:password@host/database`; or a pool of the caller's own, which
   * stays open, and whose errors of idle connections the caller listens to.
   */
  connection: string | { pool: PostgresPool };
  /** The schema that has the tables; it is made where it is missing. @defaultValue "waypoint" */
  schema?: string;
}

/** A connection, and how to end it. */
export interface PostgresConnection {
  pool: PostgresPool;
  calls: ServerCalls;
  close: () => Promise<void>;
}

const CONNECTIONS_MAX = 10;
const CONNECT_MS_MAX = 10_000;
const QUERY_MS_MAX = 50_000;

/** Classes of SQLSTATE: the connection, and conflicts that end one of two transactions. */
const LOST_CLASSES = ["08", "40"];
/** The server is ending, starting, out of connections, or waited too long for a lock. */
const LOST_STATES = ["57P01", "57P02", "57P03", "53300", "55P03"];
const FULL_STATES = ["53100", "53200"];
/** What the package says where there is no code. */
const LOST_TEXT = /^(Connection terminated|Query read timeout|timeout exceeded|timeout expired)/;
const LOST_CLIENT = /^Client has encountered a connection error/;

/** Makes a pool of connections, none of which is there before it is needed. */
export async function connectPostgres({
  connection,
}: PostgresOptions): Promise<PostgresConnection> {
  const isAddress = typeof connection === "string";
  const secrets = isAddress ? secretsOf(connection) : [];
  const calls = new ServerCalls({ name: "PostgreSQL", secrets, failureOf });
  if (!isAddress) return { pool: connection.pool, calls, close: async () => {} };

  const { Pool } = await importClient("pg", () => import("pg"));
  const pool = await calls.call(
    async () =>
      new Pool({
        connectionString: connection,
        max: CONNECTIONS_MAX,
        connectionTimeoutMillis: CONNECT_MS_MAX,
        query_timeout: QUERY_MS_MAX,
        keepAlive: true,
        // A program may end without closing it.
        allowExitOnIdle: true,
      }),
  );
  // An idle connection that is lost is replaced when one is needed.
  pool.on("error", () => {});
  return { pool, calls, close: () => pool.end() };
}

function failureOf(error: unknown): Failure {
  const state = codeOf(error);
  if (FULL_STATES.includes(state)) return "full";
  if (/^[0-9A-Z]{5}$/.test(state)) {
    const isLost = LOST_STATES.includes(state) || LOST_CLASSES.includes(state.slice(0, 2));
    return isLost ? "lost" : "failed";
  }
  const text = error instanceof Error ? error.message : "";
  return LOST_TEXT.test(text) || LOST_CLIENT.test(text) ? "lost" : "failed";
}
