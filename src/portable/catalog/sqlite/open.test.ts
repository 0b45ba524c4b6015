import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sessionRow } from "../../../../test/support/fake-rows.ts";
import { SqliteCatalog } from "./catalog.ts";

let directory: string;
const catalogPath = () => path.join(directory, "catalog.sqlite");
const open = () => SqliteCatalog.open(catalogPath(), () => {});

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-open-"));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

test("a damaged file is kept aside as it is, and a new one made", () => {
  writeFileSync(catalogPath(), "no catalog".repeat(1000));
  using catalog = open();

  const aside = readdirSync(directory).filter((name) => name.includes(".damaged-"));
  expect([catalog.isNew, catalog.sessions(), aside.length]).toEqual([true, [], 1]);
  const kept = readFileSync(path.join(directory, aside[0] ?? ""), "utf8");
  expect(kept).toBe("no catalog".repeat(1000));
});

test("a file of a newer version is refused, stays as it is and is let go of", () => {
  open()[Symbol.dispose]();
  const database = new DatabaseSync(catalogPath());
  database.exec("PRAGMA user_version = 9999");
  database.close();

  expect(open).toThrow(expect.objectContaining({ code: "FORMAT_TOO_NEW" }));
  // Whoever has it open has its log beside it.
  expect(readdirSync(directory)).toEqual(["catalog.sqlite"]);
});

test("where none may be made, a new one is in memory alone", () => {
  const copyDir = path.join(directory, "memory");
  using catalog = SqliteCatalog.open(catalogPath(), () => {}, { copyDir, mayMake: false });
  catalog.insertSession(sessionRow());

  expect([catalog.isNew, existsSync(catalogPath())]).toEqual([true, false]);
});

test("one that is opened for reading sees what is written meanwhile, and writes nothing", () => {
  using catalog = open();
  using reader = SqliteCatalog.openForReading(catalogPath());
  catalog.insertSession(sessionRow());

  expect(reader.sessions()).toEqual([sessionRow()]);
  expect(() => reader.insertSession(sessionRow({ id: "s2", name: "two" }))).toThrow();
  expect(catalog.sessions()).toHaveLength(1);
});
