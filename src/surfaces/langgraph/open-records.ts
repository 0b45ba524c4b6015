import { MemoryRecords, type ThreadRecords } from "../../portable/records/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";

/** Loads a store only where it is used: each has a client that others have no use for. */
const STORES: Record<string, (address: string) => Promise<ThreadRecords>> = {
  memory: async () => new MemoryRecords(),
  sqlite: async (address) => {
    const { SqliteRecords } = await import("../../portable/records/sqlite/index.ts");
    return SqliteRecords.open(address.slice("sqlite:".length));
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

/** Opens the store that an address names. @throws USAGE_INVALID  there is no such kind. */
export async function openRecords(address: string): Promise<ThreadRecords> {
  const kind = /^([a-z]+):/.exec(address)?.[1] ?? "";
  const open = STORES[kind];
  if (open !== undefined) return await open(address);
  throw new WaypointError("USAGE_INVALID", "The address names no store that keeps checkpoints.", {
    hint: `It begins with one of: ${Object.keys(STORES).join(":, ")}:`,
  });
}
