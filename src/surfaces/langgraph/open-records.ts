import process from "node:process";
import { MemoryRecords, type ThreadRecords } from "../../portable/records/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";

/** Loads a store only where it is used: each has a client that others have no use for. */
const STORES: Record<string, (address: string) => Promise<ThreadRecords>> = {
  memory: async () => new MemoryRecords(),
  sqlite: async (address) => {
    const path = address.slice("sqlite:".length);
    // SQLite would keep all in a file that nobody finds again.
    if (path === "") throw noStore("The address has no path of a file.", "Write sqlite:PATH.");
    const { SqliteRecords } = await loadSqlite();
    return SqliteRecords.open(path);
  },
  postgres: openPostgres,
  postgresql: openPostgres,
  redis: openRedis,
  rediss: openRedis,
  dynamodb: async (address) => {
    const { DynamoRecords } = await import("../../portable/records/dynamodb/index.ts");
    return await DynamoRecords.openAddress(address);
  },
};

async function openPostgres(address: string): Promise<ThreadRecords> {
  const { PostgresRecords } = await import("../../portable/records/postgres/index.ts");
  return await PostgresRecords.open({ connection: address });
}

async function openRedis(address: string): Promise<ThreadRecords> {
  const { RedisRecords } = await import("../../portable/records/redis/index.ts");
  return await RedisRecords.open({ url: address });
}

/**
 * Opens the store that an address names.
 *
 * @throws USAGE_INVALID  there is no such kind, or its address is not whole.
 */
export async function openRecords(address: string): Promise<ThreadRecords> {
  const kind = /^([a-z]+):/.exec(address)?.[1] ?? "";
  const open = Object.hasOwn(STORES, kind) ? STORES[kind] : undefined;
  if (open !== undefined) return await open(address);
  const kinds = `${Object.keys(STORES).join(":, ")}:`;
  const hint = `It begins with one of: ${kinds}`;
  throw noStore("The address names no store that keeps checkpoints.", hint);
}

/** @throws HOST_UNSUPPORTED  this Node has no SQLite. */
async function loadSqlite() {
  try {
    return await import("../../portable/records/sqlite/index.ts");
  } catch (cause) {
    const isMissing = cause instanceof Error && "code" in cause;
    if (!isMissing || cause.code !== "ERR_UNKNOWN_BUILTIN_MODULE") throw cause;
    throw new WaypointError("HOST_UNSUPPORTED", "This Node has no SQLite.", {
      hint: "Use Node 22.13 or newer, or keep the checkpoints elsewhere.",
      detail: { version: process.version },
      cause,
    });
  }
}

function noStore(message: string, hint: string): WaypointError {
  return new WaypointError("USAGE_INVALID", message, { hint });
}
