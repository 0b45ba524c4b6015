import { afterAll, beforeAll } from "vitest";
import { DynamoRecords } from "../../src/portable/records/dynamodb/index.ts";
import type { ThreadRecords } from "../../src/portable/records/index.ts";
import { PostgresRecords } from "../../src/portable/records/postgres/index.ts";
import { RedisRecords } from "../../src/portable/records/redis/index.ts";
import { WaypointSaver } from "../../src/surfaces/langgraph/index.ts";
import { DynamoServer } from "../support/dynamo-server.ts";
import { runOfficialSuite } from "../support/official-suite.ts";
import { PostgresServer } from "../support/postgres-server.ts";
import { RedisServer } from "../support/redis-server.ts";
import { describeSaver } from "../support/saver-conformance.ts";

let postgres: PostgresServer;
let redis: RedisServer;
let dynamo: DynamoServer;
beforeAll(async () => {
  postgres = await PostgresServer.open();
  redis = await RedisServer.open();
  dynamo = await DynamoServer.open();
});
afterAll(async () => {
  await postgres?.[Symbol.asyncDispose]();
  await redis?.[Symbol.asyncDispose]();
  await dynamo?.[Symbol.asyncDispose]();
});

let count = 0;
const STORES: Record<string, (name: string) => Promise<ThreadRecords>> = {
  PostgreSQL: (schema) => PostgresRecords.open({ connection: postgres.address(), schema }),
  Redis: (prefix) => RedisRecords.open({ url: redis.url(), prefix }),
  DynamoDB: (table) => DynamoRecords.open({ ...dynamo.address(), table, createTable: true }),
};

/** A local DynamoDB takes many times as long as the others for each checkpoint. */
const MANY: Record<string, number> = { PostgreSQL: 10_000, Redis: 10_000, DynamoDB: 500 };

for (const [name, open] of Object.entries(STORES)) {
  const newName = () => `store-${++count}`;
  const openSaver = async (store: string) => new WaypointSaver(await open(store));
  await runOfficialSuite(`WaypointSaver in ${name}`, () => openSaver(newName()));
  describeSaver(
    name,
    async () => {
      const store = newName();
      return { saver: await openSaver(store), again: () => openSaver(store) };
    },
    MANY[name] as number,
  );
}
