import { readFileSync } from "node:fs";
import os from "node:os";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Checkpoint } from "../../src/index.ts";
import { findCriu } from "../../src/linux/host/index.ts";
import { TestBases } from "../support/bases.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { installPrograms } from "./base.ts";
import { takeThroughCourse } from "./course.ts";
import { refusedWithoutSentence } from "./explain-failure.ts";
import { writeLastRun, type ZooRow } from "./last-run.ts";
import { PROGRAMS } from "./programs/index.ts";

const ROUNDS = Number(process.env["WAYPOINT_ZOO_ROUNDS"] ?? 1);
const STORE_BYTES = 32 * 1024 ** 3;
const PACKAGE_ROOT = fileURLToPath(new URL("../..", import.meta.url));

const bases = new TestBases();
const tried = new Set<string>();
const rows: ZooRow[] = [];
let machine: Pick<ZooRow, "day" | "kernel" | "criu" | "debian">;
let own: TestWaypoint;
let installed: Checkpoint;

/** Every program is followed, however small, and every page of every dump compared with a second copy. */
const FOLLOWED = {
  WAYPOINT_TRACK_MEMORY: "0",
  WAYPOINT_TRACK_AHEAD: "on",
  WAYPOINT_COMPARE_MEMORY: "on",
};

beforeAll(async () => {
  for (const [name, value] of Object.entries(FOLLOWED)) process.env[name] ??= value;
  machine = await describeMachine();
  own = await openTestWaypoint({ storeBytes: STORE_BYTES });
  installed = await installPrograms(own.waypoint);
});

afterAll(async () => {
  writeLastRun(rows, tried);
  bases[Symbol.dispose]();
  await own?.[Symbol.asyncDispose]();
  expect(refusedWithoutSentence, "refused without a sentence of ours").toEqual([]);
});

async function describeMachine(): Promise<typeof machine> {
  const { version } = await findCriu({ packageRoot: PACKAGE_ROOT });
  return {
    day: new Date().toISOString().slice(0, 10),
    kernel: /^[\d.]*\d/.exec(os.release())?.[0] ?? os.release(),
    criu: version,
    debian: readFileSync("/etc/debian_version", "utf8").trim(),
  };
}

test.each(PROGRAMS)("$name comes back, in two forks and ten generations too", async (program) => {
  tried.add(program.name);
  const base = (await program.base?.(own.waypoint, bases)) ?? installed;

  const result = await takeThroughCourse(program, base, ROUNDS);

  rows.push({ program: program.name, ...result, ...machine });
  expect(result.generations).toBe(10 * ROUNDS);
});
