import { inspect } from "node:util";
import {
  CreateTableCommand,
  DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { DynamoRecords } from "../../src/portable/records/dynamodb/index.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { DynamoServer } from "../support/dynamo-server.ts";
import { describeRecords } from "../support/records-conformance.ts";
import { writeThroughCrashes } from "../support/records-crash.ts";

let server: DynamoServer;
let client: DynamoDBClient;
beforeAll(async () => {
  server = await DynamoServer.open();
  client = new DynamoDBClient(server.address());
});
afterAll(async () => {
  client?.destroy();
  await server?.[Symbol.asyncDispose]();
});

let count = 0;
const newTable = () => `test-${++count}`;
const open = (table: string, more: { leaseMs?: number; port?: number } = {}) =>
  DynamoRecords.open({
    ...server.address(more.port === undefined ? {} : { port: more.port }),
    ...{ table, createTable: true },
    ...(more.leaseMs === undefined ? {} : { leaseMs: more.leaseMs }),
  });
const bytes = (text: string) => new TextEncoder().encode(text);
const keysOf = async (records: DynamoRecords, thread = "t") =>
  (await records.scan(thread, { prefix: "", limit: 999 })).map(({ key }) => key);

describeRecords("DynamoDB", async () => {
  const table = newTable();
  return { records: await open(table), again: () => open(table) };
});

test("an address names a table, and its credentials come from where the package looks", async () => {
  const { accessKeyId, secretAccessKey } = DynamoServer.credentials;
  vi.stubEnv("AWS_ACCESS_KEY_ID", accessKeyId);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", secretAccessKey);
  const place = `region=eu-west-1&endpoint=${server.address().endpoint}`;
  const address = `dynamodb://${newTable()}?${place}&createTable=true`;
  await using records = await DynamoRecords.openAddress(address);
  vi.unstubAllEnvs();

  expect((await records.write("t", [{ key: "a", value: bytes("1") }])).isDone).toBe(true);
});

test("a client of the caller's own is used, and left open", async () => {
  const table = newTable();
  const records = await DynamoRecords.open({ client, table, createTable: true });
  await records.write("", [{ key: "a", value: bytes("1") }]);
  await records[Symbol.asyncDispose]();

  const again = await DynamoRecords.open({ client, table });
  expect(await again.threads({ limit: 9 })).toEqual([""]);
});

test("two clients on one thread: each first is won once, no write is between another's", async () => {
  const table = newTable();
  const [one, other] = await Promise.all([open(table), open(table)]);
  const results = await Promise.all(
    Array.from({ length: 30 }, (_, at) =>
      (at % 2 === 0 ? one : other).write("t", [
        { key: `first${at % 6}`, value: bytes(`value of ${at}`), mode: "first" },
        { key: `own${at}`, value: bytes("v") },
      ]),
    ),
  );

  expect(results.filter(({ kept }) => kept.length === 0)).toHaveLength(6);
  expect(await keysOf(other)).toHaveLength(36);
  // Counted when a write begins and when it ends.
  expect(await one.revision("t")).toBe(60);
  await Promise.all([one, other].map((each) => each[Symbol.asyncDispose]()));
});

test("a sweep that has read while somebody wrote removes nothing", async () => {
  await using records = await open(newTable());
  await records.write("t", [{ key: "o/1", value: bytes("1"), mode: "content" }]);
  const before = await records.revision("t");
  const large = Array.from({ length: 200 }, (_, at) => ({ key: `c/${at}`, value: bytes("v") }));
  const writing = records.write("t", large);
  // Read in the middle of the write: the sweep does not see what it brings.
  await expect.poll(() => records.revision("t")).toBeGreaterThan(before);
  const ifRevision = await records.revision("t");
  await writing;

  const sweep = [{ key: "o/1", value: null }];
  expect(await records.write("t", sweep, { ifRevision })).toMatchObject({ isDone: false });
  expect(await records.read("t", ["o/1"])).toHaveProperty("size", 1);
});

test("the thread of a writer that died is taken over, and a sweep begins anew", async () => {
  const table = newTable();
  await using records = await open(table, { leaseMs: 300 });
  await records.write("t", [{ key: "a", value: bytes("1") }]);
  const die = () =>
    client.send(
      new UpdateItemCommand({
        ...{ TableName: table, Key: { pk: { S: "m/t" }, sk: { S: "m" } } },
        UpdateExpression: "SET holder = :dead, beat = :zero ADD revision :one",
        ExpressionAttributeValues: {
          ":dead": { S: "dead" },
          ":zero": { N: "0" },
          ":one": { N: "1" },
        },
      }),
    );
  await die();
  expect((await records.write("t", [{ key: "b", value: bytes("1") }])).isDone).toBe(true);
  expect(await keysOf(records)).toEqual(["a", "b"]);

  await die();
  const ifRevision = await records.revision("t");
  const sweep = [{ key: "a", value: null }];
  expect((await records.write("t", sweep, { ifRevision })).isDone).toBe(false);
  const now = await records.revision("t");
  expect((await records.write("t", sweep, { ifRevision: now })).isDone).toBe(true);
});

test("a writer whose thread was taken over touches nothing that came later", async () => {
  const table = newTable();
  await using records = await open(table);
  await records.write("t", [{ key: "a", value: bytes("1") }]);
  // As a later holder would have written it.
  const item = { pk: { S: "t/t" }, sk: { S: "a" }, v: { B: bytes("later") }, r: { N: "1000" } };
  await client.send(new PutItemCommand({ TableName: table, Item: item }));

  for (const value of [null, bytes("2")]) {
    const written = records.write("t", [{ key: "a", value }]);
    await expect(written).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
  }
  const found = await records.read("t", ["a"]);
  expect(new TextDecoder().decode(found.get("a"))).toBe("later");
});

test("lost answers are asked for again, and a write is not taken for somebody else's", async () => {
  await using proxy = await CuttingProxy.open(server.port);
  await using records = await open(newTable(), { port: proxy.port });
  await records.write("t", [{ key: "a", value: bytes("1") }]);
  const first = { key: "f", value: bytes("mine"), mode: "first" } as const;

  // Each of the requests of a write loses its answer in turn.
  for (let lost = 0; lost < 3; lost += 1) {
    let seen = 0;
    proxy.loseAnswers(1, () => seen++ === lost);
    expect(await records.write("t", [first])).toEqual({ isDone: true, kept: [] });
  }
  expect(proxy.cuts).toBe(3);
  const ifRevision = await records.revision("t");
  proxy.loseAnswers(1);
  const swept = await records.write("t", [{ key: "a", value: null }], { ifRevision });
  expect(swept.isDone).toBe(true);
  expect(proxy.cuts).toBe(4);
  expect(await keysOf(records)).toEqual(["f"]);
});

test("what was answered outlives kill -9 of the server", async () => {
  await using own = await DynamoServer.open();
  const options = { ...own.address(), table: "t-1", createTable: true, leaseMs: 500 };
  await using records = await DynamoRecords.open(options);

  const { answered, keys } = await writeThroughCrashes(records, own);

  expect([...answered].filter((key) => !keys.has(key))).toEqual([]);
});

test("a server that is gone is told, without the secret, and is used again when it is back", async () => {
  await using own = await DynamoServer.open();
  const options = { ...own.address(), table: "t-1", createTable: true };
  await using records = await DynamoRecords.open(options);
  await records.write("t", [{ key: "a", value: bytes("1") }]);
  await own.kill();

  const error: unknown = await records.write("t", []).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "STORE_UNREACHABLE" });
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("s3cret");

  await own.start();
  expect((await records.read("t", ["a"])).size).toBe(1);
});

test("a table that is missing, or another's, is refused", async () => {
  const options = { ...server.address(), table: newTable() };
  await expect(DynamoRecords.open(options)).rejects.toMatchObject({
    code: "STORE_FAILED",
    hint: expect.stringContaining("createTable"),
  });

  await client.send(
    new CreateTableCommand({
      TableName: options.table,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
      KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
    }),
  );
  await expect(open(options.table)).rejects.toMatchObject({ code: "STORE_FAILED" });
});

test("a host that is none, and a port without a server, are told", async () => {
  for (const endpoint of ["http://host.invalid", "http://127.0.0.1:9"]) {
    const options = { ...server.address(), endpoint, table: newTable() };
    await expect(DynamoRecords.open(options)).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
  }
});

test("a table of a newer version is refused", async () => {
  const table = newTable();
  await (await open(table))[Symbol.asyncDispose]();
  const item = { pk: { S: "format" }, sk: { S: "format" }, v: { N: "1000" } };
  await client.send(new PutItemCommand({ TableName: table, Item: item }));

  await expect(open(table)).rejects.toMatchObject({ code: "FORMAT_TOO_NEW" });
});
