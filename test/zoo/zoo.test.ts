import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Checkpoint } from "../../src/index.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { installPrograms } from "./base.ts";
import { takeThroughCourse, type ZooResult } from "./course.ts";
import { PROGRAMS } from "./programs/index.ts";

const ROUNDS = Number(process.env["WAYPOINT_ZOO_ROUNDS"] ?? 1);
const STORE_BYTES = 32 * 1024 ** 3;
const REPORT = fileURLToPath(new URL("../../.tools/zoo.json", import.meta.url));

const results: ZooResult[] = [];
let own: TestWaypoint;
let base: Checkpoint;

beforeAll(async () => {
  own = await openTestWaypoint({ storeBytes: STORE_BYTES });
  base = await installPrograms(own.waypoint);
});

afterAll(async () => {
  writeReport();
  await own?.[Symbol.asyncDispose]();
});

/** A run of some programs (`-t`) writes their rows and leaves the others. */
function writeReport(): void {
  const former = existsSync(REPORT)
    ? (JSON.parse(readFileSync(REPORT, "utf8")) as ZooResult[])
    : [];
  const rows = new Map([...former, ...results].map((row) => [row.program, row]));
  const ordered = PROGRAMS.flatMap(({ name }) => rows.get(name) ?? []);
  mkdirSync(path.dirname(REPORT), { recursive: true });
  writeFileSync(REPORT, `${JSON.stringify(ordered, null, 2)}\n`);
}

test.each(PROGRAMS)("$name comes back, in two forks and ten generations too", async (program) => {
  const result = await takeThroughCourse(program, base, ROUNDS);

  results.push(result);
  expect(result.result).toBe("right");
});
