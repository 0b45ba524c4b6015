import { inspect } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RedisRecords } from "../../src/portable/records/redis/index.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { describeRecords } from "../support/records-conformance.ts";
import { stepsInPart, writeThroughCrashes } from "../support/records-crash.ts";
import { RedisServer } from "../support/redis-server.ts";

let server: RedisServer;
let cluster: RedisServer;
let clusterClient: ReturnType<RedisServer["cluster"]>;
beforeAll(async () => {
  server = await RedisServer.open();
  cluster = await RedisServer.openCluster();
  clusterClient = cluster.cluster();
  await clusterClient.connect();
});
afterAll(async () => {
  clusterClient?.destroy();
  await cluster?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

let count = 0;
const newPrefix = () => `test${++count}`;
const open = (prefix: string, port = server.port) =>
  RedisRecords.open({ url: server.url({ port }), prefix });
const bytes = (text: string) => new TextEncoder().encode(text);

describeRecords("Redis", async () => {
  const prefix = newPrefix();
  return { records: await open(prefix), again: () => open(prefix) };
});

describeRecords("a cluster of Redis", async () => {
  const prefix = newPrefix();
  const again = () => RedisRecords.open({ client: clusterClient, prefix });
  return { records: await again(), again };
});

test.each(["{", "}", "{}", "a}b{c", "%7B", ""])("a thread is named %j", async (thread) => {
  for (const opened of [
    await open(newPrefix()),
    await RedisRecords.open({ client: clusterClient, prefix: newPrefix() }),
  ]) {
    await using records = opened;
    await records.write(thread, [{ key: "a", value: bytes(thread) }]);

    expect(await records.threads({ limit: 9 })).toEqual([thread]);
    expect(await records.scan(thread, { prefix: "", limit: 9 })).toHaveLength(1);
    await records.deleteThread(thread);
    expect(await records.threads({ limit: 9 })).toEqual([]);
  }
});

test("two clients on one thread: each first is won once, each write is counted", async () => {
  const prefix = newPrefix();
  const [one, other] = await Promise.all([open(prefix), open(prefix)]);
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
  await using records = await open(newPrefix(), proxy.port);
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

test("what was answered outlives kill -9 of the server, and no write is there in part", async () => {
  await using own = await RedisServer.open();
  await using records = await RedisRecords.open({ url: own.url() });
  expect(records.durability).toBe("each-write");

  const { answered, keys } = await writeThroughCrashes(records, own);

  expect([...answered].filter((key) => !keys.has(key))).toEqual([]);
  expect(stepsInPart(keys)).toEqual([]);
});

test("a server that is gone is told, without the password, and is used again when it is back", async () => {
  await using own = await RedisServer.open();
  await using records = await RedisRecords.open({ url: own.url() });
  await records.write("t", [{ key: "a", value: bytes("1") }]);
  await own.kill();

  const error: unknown = await records.write("t", []).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "STORE_UNREACHABLE" });
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("s3cret");

  await own.start();
  await expect
    .poll(async () => (await records.read("t", ["a"]).catch(() => null))?.size, { timeout: 60_000 })
    .toBe(1);
});

test.each([
  ["a wrong password", { password: "wr0ng-s3cret" }, "STORE_FAILED", /WRONGPASS/],
  ["a port without a server", { port: 9 }, "STORE_UNREACHABLE", /ECONNREFUSED/],
] as const)("%s is told, and never the password", async (_, options, code, text) => {
  const error: unknown = await RedisRecords.open({ url: server.url(options) }).catch(
    (reason: unknown) => reason,
  );

  expect(error).toMatchObject({ code, message: expect.stringMatching(text) });
  expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(/s3cret/);
});

test.each(["redis://:s3cret@host.invalid", "redis://:s3cret@[::bad", "http://:s3cret@host"])(
  "%s is told as what it is, without the password",
  async (url) => {
    const error: unknown = await RedisRecords.open({ url }).catch((reason: unknown) => reason);

    expect(error).toMatchObject({ code: expect.stringMatching(/^STORE_(UNREACHABLE|FAILED)$/) });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("s3cret");
  },
);

test("a server without room refuses the whole write", async () => {
  await using own = await RedisServer.open(["--maxmemory", "16mb"]);
  await using records = await RedisRecords.open({ url: own.url() });
  const fill = async () => {
    for (let at = 0; at < 100; at += 1) {
      await records.write("t", [{ key: `k${at}`, value: Buffer.alloc(300_000, at) }]);
    }
  };
  await expect(fill()).rejects.toMatchObject({ code: "STORE_FULL" });

  const before = await records.scan("t", { prefix: "", limit: 999, isKeysOnly: true });
  const more = ["x", "y"].map((key) => ({ key, value: Buffer.alloc(300_000) }));
  await expect(records.write("t", more)).rejects.toMatchObject({ code: "STORE_FULL" });
  expect(await records.scan("t", { prefix: "", limit: 999, isKeysOnly: true })).toEqual(before);
  await records.deleteThread("t");
  expect((await records.write("t", more)).isDone).toBe(true);
});

test("what was written by a newer version is refused", async () => {
  const prefix = newPrefix();
  await server.send("SET", `${prefix}:format`, "1000");

  await expect(open(prefix)).rejects.toMatchObject({ code: "FORMAT_TOO_NEW" });
});

test("a prefix with braces is refused", async () => {
  await expect(open("{a}")).rejects.toMatchObject({ code: "USAGE_INVALID" });
});

test.each([
  [["--appendfsync", "everysec"], "each-second"],
  [["--appendfsync", "no"], "server-decides"],
  [["--appendonly", "no"], "none"],
  [["--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru"], "none"],
  [["--rename-command", "CONFIG", ""], "unknown"],
] as const)("a server with %s says how durable it is: %s", async (settings, durability) => {
  await using own = await RedisServer.open(settings);
  await using records = await RedisRecords.open({ url: own.url() });

  expect(records.durability).toBe(durability);
});
