import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll } from "vitest";
import { runOfficialSuite } from "../../../test/support/official-suite.ts";
import { MemoryRecords } from "../../portable/records/index.ts";
import { SqliteRecords } from "../../portable/records/sqlite/index.ts";
import { WaypointSaver } from "./waypoint-saver.ts";

const directory = mkdtempSync(path.join(tmpdir(), "waypoint-suite-"));
afterAll(() => rmSync(directory, { recursive: true }));

let count = 0;
await runOfficialSuite("WaypointSaver in memory", () => new WaypointSaver(new MemoryRecords()));
await runOfficialSuite("WaypointSaver in SQLite", () => {
  const file = path.join(directory, `${++count}.sqlite`);
  return new WaypointSaver(SqliteRecords.open(file));
});
await runOfficialSuite(
  "WaypointSaver, encrypted",
  () => new WaypointSaver(new MemoryRecords(), { encryption: { key: new Uint8Array(32).fill(3) } }),
);
