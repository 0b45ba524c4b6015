import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkpointRecordSchema, sessionRecordSchema } from "../../model/index.ts";
import { SqliteCatalog } from "./catalog.ts";

/** As the first version that kept them wrote them: without what came later. */
const OLD_CHECKPOINT = {
  ...{ id: "c1", session: "s1", sessionName: "web", parent: null, name: null, intent: "first" },
  ...{ trigger: "manual", content: "full", createdAt: "2026-01-02T03:04:05.678Z" },
  ...{ pauseMs: 12.5, totalMs: 40, memoryBytes: 4096, stage: "durable", base: "/", net: "nat" },
  ...{ user: "root", cwd: "/root", terminal: 1, kernel: "6.18", criu: "4.2.1", arch: "x64" },
};
const OLD_SESSION = {
  ...{ id: "s1", name: "web", state: "stopped", base: "/", net: "nat", user: "root" },
  ...{ cwd: "/root", createdAt: "2026-01-02T03:04:05.678Z", head: "c1", forkedFrom: null },
  ...{ instance: null, instanceCount: 1 },
};

let directory: string;
let catalog: SqliteCatalog;
const catalogPath = () => path.join(directory, "catalog.sqlite");

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "waypoint-records-"));
  catalog = SqliteCatalog.open(catalogPath(), () => {});
});

afterEach(() => {
  catalog[Symbol.dispose]();
  rmSync(directory, { recursive: true });
});

function columnsOf(table: string): string[] {
  const database = new DatabaseSync(catalogPath(), { readOnly: true });
  const columns = database.prepare(`PRAGMA table_info(${table})`).all();
  database.close();
  return columns.map(({ name }) => String(name));
}

test.each([
  ["sessions", sessionRecordSchema],
  ["checkpoints", checkpointRecordSchema],
] as const)("the table of %s has a column for each field of the record", (table, schema) => {
  expect(columnsOf(table).toSorted()).toEqual(Object.keys(schema.shape).toSorted());
});

test("a record of before a field came has none of it, and comes back as it was kept", () => {
  const session = sessionRecordSchema.parse(OLD_SESSION);
  const checkpoint = checkpointRecordSchema.parse(OLD_CHECKPOINT);

  catalog.insertSession(session);
  catalog.insertCheckpoint(checkpoint);

  expect(checkpoint).toMatchObject({ ...OLD_CHECKPOINT, binds: [], imagesSums: null });
  expect(catalog.session("s1")).toEqual(session);
  expect(catalog.checkpoint("c1")).toEqual(checkpoint);
});

test("what is no record is refused", () => {
  expect(checkpointRecordSchema.safeParse({ ...OLD_CHECKPOINT, stage: "lost" }).success).toBe(
    false,
  );
  expect(sessionRecordSchema.safeParse({ ...OLD_SESSION, id: 7 }).success).toBe(false);
});
