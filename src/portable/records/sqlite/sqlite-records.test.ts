import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, test } from "vitest";
import { describeRecords } from "../../../../test/support/records-conformance.ts";
import { SqliteRecords } from "./sqlite-records.ts";

const directory = mkdtempSync(path.join(tmpdir(), "waypoint-records-"));
afterAll(() => rmSync(directory, { recursive: true }));

let count = 0;
const newPath = () => path.join(directory, `${++count}.sqlite`);

describeRecords("SQLite", async () => {
  const file = newPath();
  return { records: SqliteRecords.open(file), again: async () => SqliteRecords.open(file) };
});

test("a file of a newer version is refused", () => {
  const file = newPath();
  const newer = new DatabaseSync(file);
  newer.exec("PRAGMA user_version = 1000");
  newer.close();

  expect(() => SqliteRecords.open(file)).toThrow(
    expect.objectContaining({ code: "FORMAT_TOO_NEW" }),
  );
});

test("one write that cannot be made does not take those of the same turn with it", async () => {
  await using records = SqliteRecords.open(newPath());
  const value = new Uint8Array(1);

  const [good, bad, other] = await Promise.allSettled([
    records.write("t", [{ key: "a", value }]),
    records.write("t", [{ key: null as unknown as string, value }]),
    records.write("t", [{ key: "b", value }]),
  ]);

  expect([good.status, bad.status, other.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect((await records.scan("t", { prefix: "", limit: 9 })).map(({ key }) => key)).toEqual([
    "a",
    "b",
  ]);
});

test("a file that cannot be opened, or is none of SQLite's, is told with a code", () => {
  const damaged = newPath();
  writeFileSync(damaged, "no database at all, but long enough to be taken for one ".repeat(100));
  const failed = expect.objectContaining({ code: "STORE_FAILED" });

  expect(() => SqliteRecords.open(damaged)).toThrow(failed);
  expect(() => SqliteRecords.open(path.join(directory, "none", "x.sqlite"))).toThrow(failed);
  expect(() => SqliteRecords.open(directory)).toThrow(failed);
});

test("a file that another program keeps locked is waited for once, and told as unreachable", async () => {
  const file = newPath();
  await using records = SqliteRecords.open(file);
  await records.write("t", [{ key: "a", value: new Uint8Array(1) }]);
  const other = new DatabaseSync(file);
  other.exec("BEGIN IMMEDIATE");

  const writes = ["b", "c", "d", "e"].map((key) =>
    records.write("t", [{ key, value: new Uint8Array(1) }]),
  );
  const results = await Promise.allSettled(writes);
  const reasons = results.map((each) => (each.status === "rejected" ? each.reason : null));
  expect(reasons).toEqual(
    reasons.map(() => expect.objectContaining({ code: "STORE_UNREACHABLE" })),
  );
  expect((await records.read("t", ["a"])).size).toBe(1);
  other.exec("ROLLBACK");
  other.close();
  expect(await records.write("t", [{ key: "b", value: new Uint8Array(1) }])).toMatchObject({
    isDone: true,
  });
});

test("what is asked of a closed file is refused as such", async () => {
  const records = SqliteRecords.open(newPath());
  await records[Symbol.asyncDispose]();
  const closed = expect.objectContaining({ code: "USAGE_INVALID" });

  await expect(records.read("t", ["a"])).rejects.toThrow(closed);
  await expect(records.write("t", [])).rejects.toThrow(closed);
});

test("what may wait is written with what comes next, in its order", async () => {
  await using records = SqliteRecords.open(path.join(directory, "waits.sqlite"));
  const order: string[] = [];
  const note = (name: string) => () => void order.push(name);
  const value = Buffer.from("v");
  const quick = { survives: "process" } as const;

  const waits = records
    .write("t", [{ key: "a", value }], { ...quick, mayWait: true })
    .then(note("waits"));
  const turn = new Promise(setImmediate).then(note("turn"));
  const next = records.write("t", [{ key: "b", value }], quick).then(note("next"));
  await Promise.all([waits, turn, next]);

  expect(order).toEqual(["waits", "next", "turn"]);
  expect(await records.revision("t")).toBe(2);
});

test("content that is removed and brought again in one turn is there", async () => {
  await using records = SqliteRecords.open(path.join(directory, "again.sqlite"));
  const change = { key: "o", value: Buffer.from("content"), mode: "content" } as const;

  await Promise.all([
    records.write("t", [change]),
    records.write("t", [{ key: "o", value: null }]),
    records.write("t", [change]),
  ]);

  expect((await records.read("t", ["o"])).get("o")).toEqual(new Uint8Array(change.value));
});
