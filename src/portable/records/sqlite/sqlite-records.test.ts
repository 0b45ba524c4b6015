import { mkdtempSync, rmSync } from "node:fs";
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
