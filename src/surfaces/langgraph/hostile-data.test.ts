import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { deflateRawSync } from "node:zlib";
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { describe, expect, test } from "vitest";
import { at, checkpointOf, META } from "../../../test/support/saver-checkpoints.ts";
import { MemoryRecords, type ThreadRecords } from "../../portable/records/index.ts";
import { SqliteRecords } from "../../portable/records/sqlite/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { Seal } from "./seal.ts";
import { WaypointSaver } from "./waypoint-saver.ts";

const FILE_ROUNDS = Number(process.env["WAYPOINT_GRAPH_FLIPS"] ?? 25);
const FLIPS_PER_RECORD = Number(process.env["WAYPOINT_GRAPH_FLIPS"] ?? 12);
const MODES: [string, object][] = [
  ["with a key", { encryption: { key: new Uint8Array(32).fill(4) } }],
  ["without", {}],
];
const LONG = Array.from({ length: 3000 }, (_, index) => `${index * 7919} `).join("");

/** A thread of two checkpoints with small and long values, and writes. */
async function keep(records: ThreadRecords, options: object, thread: string) {
  const saver = new WaypointSaver(records, options);
  const values = { small: thread, long: `${thread} ${LONG}` };
  const fresh = { small: 1, long: 1 };
  const root = await saver.put(at(thread), checkpointOf(values), META, fresh);
  await saver.putWrites(root, [["small", `${thread} wrote`]], "task");
  const head = await saver.put(root, checkpointOf(values, { small: 2 }), META, { small: 2 });
  await saver.putWrites(head, [["long", `${LONG} ${thread}`]], "task");
  return [root, head];
}

/** Returns what a fresh saver reads of each, or the code of its error. */
async function readAll(records: ThreadRecords, options: object, configs: readonly object[]) {
  const saver = new WaypointSaver(records, options);
  const found = [];
  for (const config of configs) {
    const read = saver.getTuple(config).catch((error: unknown) => {
      if (error instanceof WaypointError) return error.code;
      throw error;
    });
    found.push(await read);
  }
  return found;
}

async function allOf(records: MemoryRecords, thread: string) {
  return await records.scan(thread, { prefix: "", limit: 1000 });
}

describe.each(MODES)("%s", (_, options) => {
  test("a changed byte anywhere is told, or changes nothing", async () => {
    const records = new MemoryRecords();
    const configs = await keep(records, options, "t");
    const right = await readAll(records, options, configs);
    let told = 0;
    for (const { key, value } of await allOf(records, "t")) {
      for (let flip = 0; flip < FLIPS_PER_RECORD; flip += 1) {
        const changed = Uint8Array.from(value);
        // The first byte says how to read the others.
        const where = flip < 8 ? 0 : Math.floor(Math.random() * value.length);
        const bit = flip < 8 ? flip : Math.floor(Math.random() * 8);
        changed[where] = (changed[where] ?? 0) ^ (1 << bit);
        await records.write("t", [{ key, value: changed }]);
        for (const [index, found] of (await readAll(records, options, configs)).entries()) {
          if (typeof found === "string") told += 1;
          else expect(found, `${key} ${where} ${bit}`).toEqual(right[index]);
        }
      }
      await records.write("t", [{ key, value }]);
    }
    expect(told).toBeGreaterThan(0);
  });

  test("a record in another's place, or of another thread, is told", async () => {
    const records = new MemoryRecords();
    const configs = await keep(records, options, "t");
    await keep(records, options, "other");
    const right = await readAll(records, options, configs);
    const mine = await allOf(records, "t");
    const others = [...mine, ...(await allOf(records, "other"))];
    for (const { key, value } of mine) {
      for (const other of others) {
        await records.write("t", [{ key, value: other.value }]);
        for (const [index, found] of (await readAll(records, options, configs)).entries()) {
          if (typeof found !== "string") expect(found).toEqual(right[index]);
        }
      }
      await records.write("t", [{ key, value }]);
    }
  });
});

/** Keeps a checkpoint of anybody's making, whose sum is right. */
async function forge(records: MemoryRecords, change: object | null) {
  const checkpoint = checkpointOf({});
  const record = {
    ...{ f: 1, v: 4, id: checkpoint.id, ts: checkpoint.ts, ns: "", parent: null, claims: null },
    ...{ metadata: { t: "json", v: "{}" }, versions: [], values: [], seen: [] },
    ...change,
  };
  const key = `c//${checkpoint.id}`;
  const bytes = Buffer.from(JSON.stringify(change === null ? null : record));
  await records.write("t", [{ key, value: new Seal().close(bytes, `t\n${key}`) }]);
  return at("t", checkpoint.id);
}

async function keepObject(records: MemoryRecords, content: Buffer): Promise<string> {
  const id = createHash("sha256").update(content).digest("base64url");
  const value = Buffer.concat([Buffer.of(1), deflateRawSync(content)]);
  await records.write("t", [{ key: `o/${id}`, value, mode: "content" }]);
  return id;
}

test.each([
  ["no record at all", null],
  ["lists that are none", { values: "abc" }],
  ["pairs that are none", { versions: [null] }],
  ["a value that lies nowhere", { values: [["a", { t: "json" }]] }],
  ["a value that lies at no ids", { values: [["a", { t: "json", o: [{}] }]] }],
  ["a tree without an end", { values: [["a", { t: "json", s: ["x", 1e9] }]] }],
  ["a value that is no JSON", { values: [["a", { t: "json", v: "{" }]] }],
  ["a value of no known type", { metadata: { t: "pickle", b: "" } }],
  ["the id of another", { id: "other" }],
  ["another namespace", { ns: "other" }],
  ["another place of its own", { elsewhere: { t: "bytes", o: ["x"] } }],
])("%s is a damaged record", async (_, change) => {
  const records = new MemoryRecords();
  const config = await forge(records, change);

  expect(await readAll(records, {}, [config])).toEqual(["STORE_FAILED"]);
});

test("a small record that would be a large value is told before it fills the memory", async () => {
  const records = new MemoryRecords();
  const bomb = await keepObject(records, Buffer.alloc(64 * 1024 * 1024));
  const ids = { t: "bytes", o: [bomb] };
  const small = await keepObject(records, Buffer.alloc(1024 * 1024));
  const again = { t: "bytes", o: Array.from({ length: 3000 }, () => small) };
  let node = small;
  for (let level = 0; level < 6; level += 1) {
    node = await keepObject(records, Buffer.from(`${JSON.stringify(node)}\n`.repeat(2000)));
  }
  const tree = { t: "bytes", s: [node, 5] };
  const before = process.memoryUsage().rss;

  for (const value of [ids, again, tree]) {
    const config = await forge(records, { values: [["a", value]] });
    expect(await readAll(records, {}, [config])).toEqual(["STORE_FAILED"]);
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 * 1024);
});

test("changed bytes of a file of SQLite never become another value", async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "waypoint-hostile-"));
  try {
    const file = path.join(directory, "graph.sqlite");
    let configs: readonly object[] = [];
    {
      const records = SqliteRecords.open(file);
      configs = await keep(records, {}, "t");
      await records[Symbol.asyncDispose]();
    }
    const whole = readFileSync(file);
    const right = await readFile(file, configs);
    for (let round = 0; round < FILE_ROUNDS; round += 1) {
      const changed = Buffer.from(whole);
      for (let count = 0; count < 5; count += 1) {
        changed.writeUInt8(
          Math.floor(Math.random() * 256),
          Math.floor(Math.random() * changed.length),
        );
      }
      writeFileSync(file, changed);
      for (const [index, found] of (await readFile(file, configs)).entries()) {
        // What lies at another key is not found: the file has nothing that says so.
        if (typeof found === "object") expectSome(found, right[index] as CheckpointTuple);
      }
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
});

/** Returns what a program reads that opens the file, or the codes of its errors. */
async function readFile(file: string, configs: readonly object[]) {
  let records: SqliteRecords;
  try {
    records = SqliteRecords.open(file);
  } catch (error) {
    if (error instanceof WaypointError) return [error.code];
    throw error;
  }
  try {
    return await readAll(records, {}, configs);
  } finally {
    await records[Symbol.asyncDispose]();
  }
}

function expectSome(found: CheckpointTuple, right: CheckpointTuple): void {
  expect({ ...found, pendingWrites: [] }).toEqual({ ...right, pendingWrites: [] });
  for (const write of found.pendingWrites ?? []) expect(right.pendingWrites).toContainEqual(write);
}

test("channels may be called as what every object has", async () => {
  const saver = new WaypointSaver(new MemoryRecords());
  const names = ["constructor", "__proto__", "toString", "hasOwnProperty"];
  const values = Object.fromEntries(names.map((name) => [name, `value of ${name}`]));
  const fresh = Object.fromEntries(names.map((name) => [name, 1]));
  const root = await saver.put(at("t"), checkpointOf(values), META, fresh);
  await saver.putWrites(root, Object.entries(values), "task");
  await saver.putWrites(root, [["constructor", "later"]], "task");
  const head = await saver.put(root, checkpointOf(values), META, {});

  const tuple = await saver.getTuple(root);
  expect(Object.entries(tuple?.checkpoint.channel_values ?? {})).toEqual(Object.entries(values));
  expect(tuple?.pendingWrites).toEqual(
    Object.entries(values).map(([name, value]) => ["task", name, value]),
  );
  expect((await saver.getTuple(head))?.checkpoint.channel_values).toEqual(
    tuple?.checkpoint.channel_values,
  );
});

test("a time to live that is no number above 0 is refused", () => {
  for (const seconds of [Number.NaN, 0, -1, undefined as never]) {
    expect(() => new WaypointSaver(new MemoryRecords(), { expiry: { seconds } })).toThrow(
      expect.objectContaining({ code: "USAGE_INVALID" }),
    );
  }
});

test("threads whose names no store can tell apart are refused", async () => {
  const saver = new WaypointSaver(new MemoryRecords());
  const invalid = expect.objectContaining({ code: "USAGE_INVALID" });
  const half = "thread \ud800";

  await expect(saver.put(at(half), checkpointOf({}), META, {})).rejects.toThrow(invalid);
  await expect(saver.deleteThread(half)).rejects.toThrow(invalid);
  await expect(saver.copyThread("t", half)).rejects.toThrow(invalid);
});

test("a name that is taken from where there is none makes no thread", async () => {
  const records = new MemoryRecords();
  await new WaypointSaver(records).removeName("never", "green");

  expect(await records.threads({ limit: 9 })).toEqual([]);
});

test.each(["sqlite:", "constructor:x", ""])("the address %j names no store", async (address) => {
  await expect(WaypointSaver.open(address)).rejects.toThrow(
    expect.objectContaining({ code: "USAGE_INVALID" }),
  );
});
