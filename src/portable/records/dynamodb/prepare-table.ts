import { setTimeout as delay } from "node:timers/promises";
import { WaypointError } from "../../../shared/errors/index.ts";
import type { DynamoConnection } from "./connect-dynamo.ts";
import { DynamoTable } from "./dynamo-table.ts";

const FORMAT = 1;
const FORMAT_KEY = { pk: "format", sk: "format" };
const READY_MS_MAX = 120_000;
const LOOK_INTERVAL_MS = 200;

/** Looks at the table, and makes it where that is asked for. */
export async function prepareTable(
  connection: DynamoConnection,
  name: string,
  createTable: boolean,
): Promise<DynamoTable> {
  const endsAtMs = performance.now() + READY_MS_MAX;
  let isMade = false;
  for (;;) {
    const found = await describe(connection, name);
    if (found?.TableStatus === "ACTIVE") {
      checkKeys(name, found.KeySchema ?? []);
      break;
    }
    if (found === null && !createTable) throw noTable(name);
    if (found === null && !isMade) await create(connection, name);
    isMade = true;
    if (performance.now() > endsAtMs) {
      throw new WaypointError("STORE_UNREACHABLE", `The table ${name} does not become ready.`, {
        hint: "Look at the table's state, then try again.",
        detail: { table: name, status: found?.TableStatus ?? null },
      });
    }
    await delay(LOOK_INTERVAL_MS);
  }
  const table = new DynamoTable(name, connection.sdk, connection.client, connection.calls);
  await checkFormat(table);
  return table;
}

async function describe({ sdk, client, calls }: DynamoConnection, TableName: string) {
  return await calls.call(async () => {
    try {
      return (await client.send(new sdk.DescribeTableCommand({ TableName }))).Table ?? null;
    } catch (error) {
      if (hasName(error, "ResourceNotFoundException")) return null;
      throw error;
    }
  });
}

async function create({ sdk, client, calls }: DynamoConnection, TableName: string): Promise<void> {
  const command = new sdk.CreateTableCommand({
    TableName,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: [
      { AttributeName: "pk", AttributeType: "S" },
      { AttributeName: "sk", AttributeType: "S" },
    ],
    KeySchema: [
      { AttributeName: "pk", KeyType: "HASH" },
      { AttributeName: "sk", KeyType: "RANGE" },
    ],
  });
  await calls.call(async () => {
    try {
      await client.send(command);
    } catch (error) {
      // Somebody else makes it.
      if (!hasName(error, "ResourceInUseException")) throw error;
    }
  });
}

function checkKeys(
  name: string,
  keys: readonly { AttributeName?: string | undefined; KeyType?: string | undefined }[],
): void {
  const found = keys.map((key) => `${key.KeyType} ${key.AttributeName}`).sort();
  if (found.join() === "HASH pk,RANGE sk") return;
  throw new WaypointError("STORE_FAILED", `The table ${name} has other keys than Waypoint's.`, {
    hint: "Use another table: its partition key is the text pk, its sort key the text sk.",
    detail: { table: name, keys: found },
  });
}

async function checkFormat(table: DynamoTable): Promise<void> {
  const isFirst = { text: "attribute_not_exists(pk)" };
  await table.put(FORMAT_KEY, { v: { N: String(FORMAT) } }, isFirst);
  const found = Number((await table.get(FORMAT_KEY))?.["v"]?.N ?? 0);
  if (found <= FORMAT) return;
  throw new WaypointError("FORMAT_TOO_NEW", "The table was written by a newer Waypoint.", {
    hint: "Install that version again, or use another table.",
    detail: { found, known: FORMAT },
  });
}

function noTable(name: string): WaypointError {
  return new WaypointError("STORE_FAILED", `There is no table ${name}.`, {
    hint: "Make it, with the text pk as partition key and the text sk as sort key; or open it with createTable.",
    detail: { table: name },
  });
}

function hasName(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}
