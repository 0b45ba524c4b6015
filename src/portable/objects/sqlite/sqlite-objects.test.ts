import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { appendItems, objectsOf, readValue, storeValue } from "../index.ts";
import { SqliteObjects } from "./index.ts";

let directory: string;
const filePath = () => path.join(directory, "objects.sqlite");
const open = () => SqliteObjects.open(filePath());

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-objects-"));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

/** Text that no deflating makes much shorter. */
function noise(chars: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(Math.min(65_536, chars)));
  return Buffer.from(bytes).toString("base64").slice(0, chars);
}

test("a conversation that grows to 10 MB in 1,000 steps costs less than 1.5 times that on the disk", () => {
  const objects = open();
  let stored = storeValue(objects, []);
  for (let at = 0; at < 1000; at += 1) {
    stored = objects.transaction(() =>
      appendItems(objects, stored, [{ role: "assistant", content: noise(10_000) }]),
    );
  }
  objects[Symbol.dispose]();

  const onDisk = readdirSync(directory).map((name) => statSync(path.join(directory, name)).size);
  expect(onDisk.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(1.5 * 10_000_000);
  using again = open();
  expect(readValue(again, stored)).toHaveLength(1000);
});

test("what is put twice is kept once, and what is removed is no more there", () => {
  using objects = open();
  const kept = storeValue(objects, ["kept", noise(5000)]);
  const gone = storeValue(objects, ["gone", noise(5000)]);

  expect(storeValue(objects, readValue(objects, gone))).toBe(gone);
  const goneCount = objectsOf(objects, gone).size;
  expect(objects.keepOnly(objectsOf(objects, kept))).toBe(goneCount);
  expect(readValue(objects, kept)).toEqual(["kept", expect.any(String)]);
  expect(() => readValue(objects, gone)).toThrow(expect.objectContaining({ code: "STORE_FAILED" }));
});

test("a transaction that fails leaves nothing", () => {
  using objects = open();
  const fail = () =>
    objects.transaction(() => {
      objects.put(Buffer.from("half"));
      throw new Error("no");
    });

  expect(fail).toThrow("no");
  expect(objects.keepOnly(new Set())).toBe(0);
});

test("an object whose bytes are others is damaged, not what was put", () => {
  using objects = open();
  const id = objects.put(Buffer.from("a".repeat(1000)));
  const short = objects.put(Buffer.from("short"));
  const database = new DatabaseSync(filePath());
  database.exec("UPDATE objects SET bytes = x'00ff', length = 1000 WHERE length IS NOT NULL");
  database.exec("UPDATE objects SET bytes = x'61' WHERE length IS NULL");
  database.close();

  const damaged = expect.objectContaining({ code: "STORE_FAILED" });
  expect(() => objects.get(id)).toThrow(damaged);
  expect(() => objects.get(short)).toThrow(damaged);
  expect(objects.get(id.replace(/^./, "_"))).toBeUndefined();
});

test("a file of a newer version is refused", () => {
  open()[Symbol.dispose]();
  const database = new DatabaseSync(filePath());
  database.exec("PRAGMA user_version = 9999");
  database.close();

  expect(open).toThrow(expect.objectContaining({ code: "FORMAT_TOO_NEW" }));
});
