import { existsSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { accountOf, type Decision, isOnLine } from "./index.ts";
import { SqliteDecisions } from "./sqlite/index.ts";

let directory: string;
let log: SqliteDecisions;
const file = () => path.join(directory, "decisions.sqlite");
const open = () => new SqliteDecisions({ isThere: () => existsSync(file()), path: file });
const MADE = {
  ...{ session: "s1", tree: "s1", at: "2026-01-02T03:04:05.678Z", instance: "s1-1" },
  ...{ choice: "use btrfs", reason: "snapshots", alternatives: ["zfs"], task: null, command: null },
};

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-decisions-"));
  log = open();
});

afterEach(() => {
  log[Symbol.dispose]();
  rmSync(directory, { recursive: true });
});

test("a decision is of the first checkpoint after it, and stays when the file is opened anew", () => {
  expect(log.of("s1")).toEqual([]);
  const later = { until: "2026-01-02T03:04:06.000Z" };
  log.capture("s1-1", "c0", later);
  expect(existsSync(file())).toBe(false);
  log.add(MADE);
  log.capture("s1-2", "other", later);
  log.capture("s1-1", "c1", later);
  log.add({ ...MADE, choice: "then zfs", reason: null });
  log.capture("s1-1", "c2", later);
  log[Symbol.dispose]();
  log = open();

  expect(log.of("s1").map(({ choice, checkpoint }) => [choice, checkpoint])).toEqual([
    ["use btrfs", "c1"],
    ["then zfs", "c2"],
  ]);
  expect(log.of("s1")[0]).toMatchObject({ alternatives: ["zfs"], reason: "snapshots" });
  expect(log.all()).toEqual(log.of("s1"));
  log.remove("s1");
  expect(log.of("s1")).toEqual([]);
});

test("a decision that was made behind the capture is of the checkpoint after that one", () => {
  log.add(MADE);
  log.add({ ...MADE, choice: "then zfs", at: "2026-01-02T03:04:07.000Z" });
  log.add({ ...MADE, choice: "of a clock that was put back", at: "9026-01-02T03:04:07.000Z" });
  log.capture("s1-1", "c1", { until: "2026-01-02T03:04:06.000Z" });
  log.capture("s1-1", "c2", { until: "2026-01-02T03:04:08.000Z" });

  expect(log.all().map(({ choice, checkpoint }) => [choice, checkpoint])).toEqual([
    ["use btrfs", "c1"],
    ["then zfs", "c2"],
    ["of a clock that was put back", "c1"],
  ]);
});

test("what is on the way to where a session stands was not left", () => {
  const line = { session: "s1", instance: "s1-2", checkpoints: new Set(["c1"]) };
  const decision = (facts: Partial<Decision>) => ({ ...MADE, id: 1, checkpoint: null, ...facts });

  expect(isOnLine(decision({ checkpoint: "c1" }), line)).toBe(true);
  expect(isOnLine(decision({ checkpoint: "c1", session: "s2" }), line)).toBe(true);
  expect(isOnLine(decision({ checkpoint: "c2" }), line)).toBe(false);
  expect(isOnLine(decision({ instance: "s1-2" }), line)).toBe(true);
  // Its processes were left without a checkpoint.
  expect(isOnLine(decision({}), line)).toBe(false);
  expect(isOnLine(decision({ session: "s2", instance: "s1-2" }), line)).toBe(false);
});

test("a short account has the newest that find room", () => {
  const made = ["a", "b", "c"].map((choice, id) => ({ ...MADE, id, checkpoint: null, choice }));

  expect(accountOf(made, 1000)).toBe("- a: snapshots\n- b: snapshots\n- c: snapshots");
  expect(accountOf(made, 35)).toBe("- b: snapshots\n- c: snapshots");
});
