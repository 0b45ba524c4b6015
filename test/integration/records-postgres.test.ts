import { inspect } from "node:util";
import { Pool } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PostgresRecords } from "../../src/portable/records/postgres/index.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { PostgresServer } from "../support/postgres-server.ts";
import { describeRecords } from "../support/records-conformance.ts";
import { stepsInPart, writeThroughCrashes } from "../support/records-crash.ts";
import { SmallDisk } from "../support/small-disk.ts";

const DISK_BYTES = 300 * 1024 ** 2;
/** Enough for what is written ahead, too little for many records. */
const DISK_LEFT_BYTES = 60 * 1024 ** 2;

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.open();
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

let count = 0;
const newSchema = () => `of test "${++count}"`;
const open = (schema: string, port = server.port) =>
  PostgresRecords.open({ connection: server.address({ port }), schema });
const bytes = (text: string) => new TextEncoder().encode(text);

describeRecords("PostgreSQL", async () => {
  const schema = newSchema();
  return { records: await open(schema), again: () => open(schema) };
});

test("a write is one message, and one transaction", async () => {
  const texts: string[] = [];
  const pool = new Pool({ connectionString: server.address() });
  const counting = {
    query: (text: string, values?: unknown[]) => {
      texts.push(text);
      return pool.query(text, values);
    },
  };
  const schema = newSchema();
  await using records = await PostgresRecords.open({ connection: { pool: counting }, schema });
  texts.length = 0;
  const changes = Array.from({ length: 5 }, (_, at) => ({ key: `k${at}`, value: bytes("v") }));

  await records.write("t", changes);

  expect(texts).toHaveLength(1);
  await pool.end();
});

test("two clients on one thread: each first is won once, each write is counted", async () => {
  const schema = newSchema();
  // Both make the tables.
  const [one, other] = await Promise.all([open(schema), open(schema)]);
  const results = await Promise.all(
    Array.from({ length: 60 }, (_, at) =>
      (at % 2 === 0 ? one : other).write("t", [
        { key: `first${at % 6}`, value: bytes(`value of ${at}`), mode: "first" },
        { key: `own${at}`, value: bytes("v") },
      ]),
    ),
  );

  expect(results.filter(({ kept }) => kept.length === 0)).toHaveLength(6);
  expect(await one.revision("t")).toBe(60);
  expect(await other.scan("t", { prefix: "", limit: 100 })).toHaveLength(66);
  await Promise.all([one, other].map((each) => each[Symbol.asyncDispose]()));
});

test("a lost answer is asked for again, and a write is not taken for somebody else's", async () => {
  await using proxy = await CuttingProxy.open(server.port);
  await using records = await open(newSchema(), proxy.port);
  await records.write("t", [{ key: "a", value: bytes("1") }]);

  proxy.loseAnswers(1);
  const first = { key: "f", value: bytes("mine"), mode: "first" } as const;
  expect(await records.write("t", [first])).toEqual({ isDone: true, kept: [] });
  expect(proxy.cuts).toBe(1);

  const ifRevision = await records.revision("t");
  proxy.loseAnswers(1);
  const swept = await records.write("t", [{ key: "a", value: null }], { ifRevision });
  expect(swept.isDone).toBe(true);
  expect(proxy.cuts).toBe(2);
  expect((await records.scan("t", { prefix: "", limit: 9 })).map(({ key }) => key)).toEqual(["f"]);
});

test("what was answered outlives a crash of the server, and no write is there in part", async () => {
  await using own = await PostgresServer.open();
  await using records = await PostgresRecords.open({ connection: own.address() });
  const { answered, keys } = await writeThroughCrashes(records, own);

  expect([...answered].filter((key) => !keys.has(key))).toEqual([]);
  expect(stepsInPart(keys)).toEqual([]);
});

test("a server that is gone is told, without the password, and is used again when it is back", async () => {
  await using own = await PostgresServer.open();
  await using records = await PostgresRecords.open({ connection: own.address() });
  await records.write("t", [{ key: "a", value: bytes("1") }]);
  await own.stop();

  const error: unknown = await records.write("t", []).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "STORE_UNREACHABLE" });
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("s3cret");

  await own.start();
  expect((await records.read("t", ["a"])).size).toBe(1);
});

test.each([
  ["a wrong password", { password: "wr0ng-s3cret" }, "STORE_FAILED", /password authentication/],
  ["a port without a server", { port: 9 }, "STORE_UNREACHABLE", /ECONNREFUSED/],
] as const)("%s is told, and never the password", async (_, options, code, text) => {
  const connection = server.address(options);
  const error: unknown = await PostgresRecords.open({ connection }).catch(
    (reason: unknown) => reason,
  );

  expect(error).toMatchObject({ code, message: expect.stringMatching(text) });
  expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(/s3cret/);
});

test.each(["postgresql://u:s3cret@host.invalid/db", "postgresql://u:s3cret@[::bad/db"])(
  "%s is told as what it is, without the password",
  async (connection) => {
    const error: unknown = await PostgresRecords.open({ connection }).catch(
      (reason: unknown) => reason,
    );

    expect(error).toMatchObject({ code: expect.stringMatching(/^STORE_(UNREACHABLE|FAILED)$/) });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("s3cret");
  },
);

test("tables of a newer version are refused", async () => {
  const schema = newSchema();
  await (await open(schema))[Symbol.asyncDispose]();
  await server.sql(`UPDATE "${schema.replaceAll('"', '""')}".format SET version = 1000`);

  await expect(open(schema)).rejects.toMatchObject({ code: "FORMAT_TOO_NEW" });
});

test("who may not make tables uses those that are there", async () => {
  const schema = `s${++count}`;
  await (await open(schema))[Symbol.asyncDispose]();
  await server.sql(`CREATE ROLE guest${count} LOGIN PASSWORD 'guest'`);
  await server.sql(`GRANT USAGE ON SCHEMA ${schema} TO guest${count}`);
  await server.sql(`GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO guest${count}`);
  const connection = `postgresql://guest${count}:guest@127.0.0.1:${server.port}/postgres`;

  await using records = await PostgresRecords.open({ connection, schema });
  expect((await records.write("t", [{ key: "a", value: bytes("1") }])).isDone).toBe(true);
  await expect(
    PostgresRecords.open({ connection, schema: "none of its own" }),
  ).rejects.toMatchObject({ code: "STORE_FAILED" });
});

test.each(["\u{d800}", "x".repeat(1001)])(
  "a thread that no store can name is refused",
  async (thread) => {
    await using records = await open(newSchema());

    await expect(records.write(thread, [])).rejects.toMatchObject({ code: "USAGE_INVALID" });
  },
);

test("a full disk is told, leaves nothing in part, and is written again when there is room", async () => {
  await using disk = SmallDisk.mount(DISK_BYTES);
  const own = await PostgresServer.open(disk.path);
  try {
    await using records = await PostgresRecords.open({ connection: own.address() });
    const filler = disk.fill(DISK_LEFT_BYTES);
    const write = (at: number) =>
      records.write("t", [
        { key: `${at}/a`, value: Buffer.alloc(300_000, at) },
        { key: `${at}/b`, value: Buffer.alloc(300_000, at) },
      ]);
    let done = 0;
    const fillUp = async () => {
      for (;;) {
        await write(done);
        done += 1;
      }
    };
    await expect(fillUp()).rejects.toMatchObject({ code: "STORE_FULL" });

    const all = { prefix: "", limit: 9999, isKeysOnly: true };
    expect(await records.scan("t", all)).toHaveLength(2 * done);
    filler.remove();
    expect((await write(done)).isDone).toBe(true);
  } finally {
    await own[Symbol.asyncDispose]();
  }
});
