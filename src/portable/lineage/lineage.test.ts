import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Catalog } from "../catalog/index.ts";
import { SqliteCatalog } from "../catalog/sqlite/index.ts";
import type { CheckpointRow, SessionRow } from "../model/index.ts";
import { ancestry, removableCheckpoints, requireOwnHistory } from "./ancestry.ts";
import {
  resolveCheckpoint,
  resolveMoment,
  resolveOnlyCheckpoint,
  resolveSession,
} from "./resolve-reference.ts";

let directory: string;
let catalog: Catalog;

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-lineage-"));
  catalog = SqliteCatalog.open(path.join(directory, "catalog.sqlite"), () => {});
});

afterEach(() => {
  catalog[Symbol.dispose]();
  rmSync(directory, { recursive: true });
});

const UNLIMITED = {
  ...{ shell: null, memoryLimitBytes: null, cpuLimit: null, pidsLimit: null },
  diskLimitBytes: null,
};

function session(id: string, facts: Partial<SessionRow> = {}): SessionRow {
  const row: SessionRow = {
    ...{
      id,
      name: `name-${id}`,
      state: "running",
      base: "/",
      net: "nat",
      netAllow: null,
      user: "root",
    },
    ...{ cwd: "/", createdAt: id, head: null, forkedFrom: null, instance: null, instanceCount: 0 },
    ...{ binds: [], hostMounts: [], ...UNLIMITED, standby: null },
    ...{ verifyWords: null, verifyCommand: null, verifyAutomatic: null },
    approval: null,
    agentState: null,
    ...{ auto: null, autoPausedAt: null, autoFailure: null, autoFailedAt: null },
    ...facts,
  };
  catalog.insertSession(row);
  return row;
}

function checkpoint(id: string, of: string, parent: string | null, name: string | null = null) {
  const row: CheckpointRow = {
    ...{
      id,
      session: of,
      sessionName: `name-${of}`,
      parent,
      name,
      intent: null,
      tags: null,
      agentSaid: null,
      agentState: null,
      task: null,
    },
    ...{ trigger: "manual", autoCause: null, content: "full", createdAt: id },
    ...{ pauseMs: 0, totalMs: 0 },
    ...{
      memoryBytes: 0,
      pauseBytes: null,
      stage: "durable",
      base: "/",
      net: "nat",
      netAllow: null,
      user: "root",
      cwd: "/",
    },
    ...{ terminal: 1, kernel: "", criu: "", arch: "", binds: [], hostMounts: [] },
    ...UNLIMITED,
    unchangedSince: null,
    ...{ heldBy: null, heldWhy: null, imagesSums: null },
  };
  catalog.insertCheckpoint(row);
  return row;
}

const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
const failsWith = (code: string) => expect.objectContaining({ code });

describe("a session's reference", () => {
  beforeEach(() => {
    session("abc1");
    session("abd2", { name: "abc" });
  });

  test("is a name, an id or a unique prefix, and a name goes before a prefix", () => {
    expect(resolveSession("abc", catalog).id).toBe("abd2");
    expect(resolveSession("abc1", catalog).id).toBe("abc1");
    expect(resolveSession("abd", catalog).id).toBe("abd2");
  });

  test("that fits several is ambiguous, and one that fits none is not found", () => {
    expect(() => resolveSession("ab", catalog)).toThrow(failsWith("REFERENCE_AMBIGUOUS"));
    expect(() => resolveSession("%", catalog)).toThrow(failsWith("SESSION_NOT_FOUND"));
    expect(() => resolveSession("ABC1", catalog)).toThrow(failsWith("SESSION_NOT_FOUND"));
  });
});

describe("a checkpoint's reference", () => {
  beforeEach(() => {
    checkpoint("aa1", "s", null, "start");
    checkpoint("aa2", "s", "aa1");
    checkpoint("b3", "s", "aa2", "aa");
    session("s", { name: "web", head: "b3" });
    session("fresh");
  });

  test.each([
    ["aa1", "aa1"],
    ["start", "aa1"],
    ["aa", "b3"],
    ["b", "b3"],
    ["web@", "b3"],
    ["web@~0", "b3"],
    ["web@~1", "aa2"],
    ["web@~2", "aa1"],
    ["s@~2", "aa1"],
    ["web", "b3"],
    ["s", "b3"],
  ])("%s is %s", (reference, id) => {
    expect(resolveCheckpoint(reference, catalog).id).toBe(id);
  });

  test.each([
    ["web@~3", "CHECKPOINT_NOT_FOUND"],
    ["web@~999999", "CHECKPOINT_NOT_FOUND"],
    ["fresh@", "CHECKPOINT_NOT_FOUND"],
    ["name-fresh", "CHECKPOINT_NOT_FOUND"],
    ["nosuch@", "SESSION_NOT_FOUND"],
    ["@", "SESSION_NOT_FOUND"],
    ["web@~", "CHECKPOINT_NOT_FOUND"],
    ["web@~-1", "CHECKPOINT_NOT_FOUND"],
    ["web@@", "CHECKPOINT_NOT_FOUND"],
    ["a", "REFERENCE_AMBIGUOUS"],
    ["_a1", "CHECKPOINT_NOT_FOUND"],
    ["x".repeat(1000), "CHECKPOINT_NOT_FOUND"],
  ])("%.20s is %s", (reference, code) => {
    expect(() => resolveCheckpoint(reference, catalog)).toThrow(failsWith(code));
  });

  test("that could be a session, too, is called neither, with the hint of both", () => {
    expect(() => resolveMoment("nosuch", catalog)).toThrow(
      expect.objectContaining({
        code: "CHECKPOINT_NOT_FOUND",
        message: 'There is no checkpoint or session "nosuch".',
        hint: "`waypoint log` lists the checkpoints, `waypoint ls` the sessions.",
      }),
    );
  });

  test("that is long is shown cut short", () => {
    expect(() => resolveCheckpoint("x".repeat(1000), catalog)).toThrow(
      `There is no checkpoint "${"x".repeat(80)}…".`,
    );
  });

  test("a checkpoint of a session's name goes before the session, and a session before a prefix", () => {
    session("other", { name: "start", head: "b3" });
    session("prefix", { name: "b", head: "aa2" });

    expect(resolveCheckpoint("start", catalog).id).toBe("aa1");
    expect(resolveCheckpoint("b", catalog).id).toBe("aa2");
  });

  test("a session's name names no checkpoint to remove", () => {
    expect(resolveOnlyCheckpoint("web@", catalog).id).toBe("b3");
    expect(() => resolveOnlyCheckpoint("web", catalog)).toThrow(failsWith("CHECKPOINT_NOT_FOUND"));
  });

  test("a name that was mistyped gets those that are near, sessions and checkpoints", () => {
    const hintOf = (find: () => unknown) => {
      try {
        return find();
      } catch (error) {
        return (error as { hint: string }).hint;
      }
    };

    expect(hintOf(() => resolveSession("wbe", catalog))).toBe(
      "Did you mean web? `waypoint ls` lists the sessions.",
    );
    expect(hintOf(() => resolveCheckpoint("strat", catalog))).toBe(
      "Did you mean start? `waypoint log` lists the checkpoints.",
    );
    expect(hintOf(() => resolveMoment("wen", catalog))).toMatch(
      /^Did you mean web\? `waypoint log`/,
    );
    expect(hintOf(() => resolveCheckpoint("name-fresh", catalog))).toBe(
      "`waypoint checkpoint name-fresh` makes one.",
    );
  });
});

describe("the tree", () => {
  // one ─ two ─ three (of s)     two ─ four (of its fork f)
  beforeEach(() => {
    checkpoint("one", "s", null);
    checkpoint("two", "s", "one");
    checkpoint("three", "s", "two");
    checkpoint("four", "f", "two");
  });

  test("ancestors are listed newest first, up to the root or to one that is gone", () => {
    expect(ids(ancestry("three", catalog))).toEqual(["three", "two", "one"]);
    catalog.deleteCheckpoint("one");
    expect(ids(ancestry("four", catalog))).toEqual(["four", "two"]);
    expect(ancestry(null, catalog)).toEqual([]);
  });

  test("a fork may go back to what it descends from, and not to what came after", () => {
    const fork = session("f", { head: "four", forkedFrom: "two" });
    const target = (id: string) => catalog.checkpoint(id) as CheckpointRow;

    for (const id of ["four", "two", "one"]) requireOwnHistory(fork, target(id), catalog);
    expect(() => requireOwnHistory(fork, target("three"), catalog)).toThrow(
      failsWith("CHECKPOINT_OF_OTHER_SESSION"),
    );
  });

  test("a session keeps all of its own, also those that a restore has left", () => {
    const row = session("s", { head: "one" });

    requireOwnHistory(row, catalog.checkpoint("three") as CheckpointRow, catalog);
  });

  test("what a fork stands on stays when its session is removed", () => {
    const row = session("s", { head: "three" });
    session("f", { head: "four", forkedFrom: "two" });

    expect(ids(removableCheckpoints(row, catalog))).toEqual(["three"]);
  });

  test("nothing stays for a session that nobody descends from", () => {
    const row = session("s", { head: "three" });
    catalog.deleteCheckpoint("four");

    expect(ids(removableCheckpoints(row, catalog)).toSorted()).toEqual(["one", "three", "two"]);
  });
});
