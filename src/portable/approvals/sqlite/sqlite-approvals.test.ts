import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Approval } from "../index.ts";
import { SqliteApprovals } from "./index.ts";

const STEP: Approval = {
  ...{ id: "a1", session: "s1", sessionName: "web", instance: "s1-1", fingerprint: "f" },
  ...{ command: "git push", rule: "git push", checkpoint: "c1", state: "waiting" },
  ...{ askedAt: "2026-01-01T00:00:00.000Z", expiresAt: "2026-01-01T00:15:00.000Z" },
  ...{ settledAt: null, why: null, exitCode: null, askedBy: null, answeredBy: null },
};
const ALICE = { uid: 0, user: "root", surface: "cli", sudoUser: "alice", tty: "/dev/pts/1" };
const BOB = { ...ALICE, sudoUser: "bob" };
const AT = "2026-01-01T00:01:00.000Z";

let directory: string;
const open = () => new SqliteApprovals(() => path.join(directory, "approvals.sqlite"));

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-approvals-"));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

test("of two answers the first holds, also for whoever opens the file again", () => {
  const first = open();
  first.insert({ ...STEP, askedBy: BOB });
  const approved = { state: "approved", settledAt: AT, answeredBy: ALICE, why: "ok" } as const;

  expect(first.move("a1", "waiting", approved)).toBe(true);
  const denied = { ...approved, state: "denied", answeredBy: BOB, why: "no" } as const;
  expect(first.move("a1", "waiting", denied)).toBe(false);
  first[Symbol.dispose]();
  using again = open();
  expect(again.get("a1")).toEqual({ ...STEP, ...approved, askedBy: BOB });
  again.move("a1", "approved", { state: "used", settledAt: AT, answeredBy: null, why: null });
  expect(again.get("a1")).toMatchObject({ state: "used", answeredBy: ALICE, why: "ok" });
});

test("what was approved is used once", () => {
  using approvals = open();
  approvals.insert({ ...STEP, state: "approved" });
  const used = { state: "used", settledAt: AT, answeredBy: null, why: null } as const;

  expect(approvals.findOpen(STEP)).toHaveLength(1);
  expect(approvals.move("a1", "approved", used)).toBe(true);
  expect(approvals.move("a1", "approved", used)).toBe(false);
  expect(approvals.findOpen(STEP)).toEqual([]);
  approvals.end("a1", 0);
  expect(approvals.get("a1")).toMatchObject({ state: "used", exitCode: 0 });
});

test("its time ends what waits and what was approved, and nothing else", () => {
  using approvals = open();
  const states = ["waiting", "approved", "denied", "used"] as const;
  for (const state of states) approvals.insert({ ...STEP, id: state, state });

  approvals.expire(AT);
  expect(states.map((id) => approvals.get(id)?.state)).toEqual(states);
  approvals.expire(STEP.expiresAt);
  expect(states.map((id) => approvals.get(id)?.state)).toEqual([
    ...["expired", "expired", "denied", "used"],
  ]);
});

test("those that wait come first, then the newest", () => {
  using approvals = open();
  approvals.insert({ ...STEP, id: "old" });
  approvals.insert({ ...STEP, id: "done", state: "denied", session: "s2" });
  approvals.insert({ ...STEP, id: "new", state: "used" });

  const ids = (session: string | null) =>
    approvals.list({ session, countMax: 10 }).map(({ id }) => id);
  expect(ids(null)).toEqual(["old", "new", "done"]);
  expect(ids("s2")).toEqual(["done"]);
  expect(approvals.findOpen({ ...STEP, instance: "s1-2" })).toEqual([]);
});
