import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type {
  Checkpoint,
  OperationOutput,
  OperationRecord,
  Session,
} from "../../../shared/protocol/index.ts";
import { type Paint, plain } from "../text/style.ts";
import { renderTimeline } from "./render-timeline.ts";

const NOW_MS = Date.parse("2026-03-04T15:00:00.000Z");
const zone = process.env["TZ"];

beforeAll(() => {
  process.env["TZ"] = "UTC";
});

afterAll(() => {
  if (zone === undefined) delete process.env["TZ"];
  else process.env["TZ"] = zone;
});

function at(minute: number): string {
  return `2026-03-04T14:${String(minute).padStart(2, "0")}:00.000Z`;
}

function checkpoint(minute: number, id: string, facts: Partial<Checkpoint> = {}): Checkpoint {
  return {
    id: `${id}00000000`,
    session: "s1",
    sessionName: "web",
    parent: null,
    name: null,
    tags: [],
    task: null,
    intent: null,
    derivedIntent: null,
    trigger: "manual",
    autoCause: null,
    content: "full",
    createdAt: at(minute),
    unchangedSince: null,
    pauseMs: 12,
    totalMs: 40,
    memoryBytes: 1024,
    pauseBytes: null,
    stage: "durable",
    verification: null,
    changes: { summary: "" },
    ...facts,
  };
}

function session(id: string, name: string, head: string): Session {
  return {
    id,
    name,
    state: "running",
    base: "/",
    net: "nat",
    allow: null,
    user: "root",
    cwd: "/root",
    createdAt: at(0),
    head: `${head}00000000`,
    binds: [],
    hostMounts: [],
    forkedFrom: null,
    pid: 1,
    address: null,
    memoryBytes: null,
    silence: null,
    verifyCommand: null,
    verifyAutomatic: true,
    filling: false,
    shell: null,
    disk: null,
    limits: { memoryBytes: null, cpus: null, pids: null, diskBytes: null },
    limitsHit: null,
    standby: null,
    auto: { policy: "manual", isDefault: true, pausedSince: null, failure: null },
    attached: { count: 0, lastKeyAt: null },
  };
}

function operation(minute: number, facts: Partial<OperationRecord>): OperationRecord {
  return {
    id: minute,
    session: "s1",
    kind: "new",
    checkpoint: null,
    undo: null,
    at: at(minute),
    readyMs: null,
    detail: null,
    ...facts,
  };
}

const PASSED = {
  command: "npm test",
  exitCode: 0,
  durationMs: 1,
  at: at(4),
  timedOut: false,
  by: "verify" as const,
  output: "",
};

/** A session that went wrong, was put back, and was forked twice. */
const LOG: OperationOutput<"log"> = {
  checkpoints: [
    checkpoint(1, "aa", { name: "clean", intent: "fresh checkout" }),
    checkpoint(3, "bb", {
      parent: "aa00000000",
      intent: "npm ci",
      changes: { summary: "+1200 files" },
      verification: PASSED,
    }),
    checkpoint(5, "cc", {
      parent: "bb00000000",
      intent: "before the restore of aa",
      trigger: "before-restore",
      verification: { ...PASSED, exitCode: 1 },
    }),
    checkpoint(7, "dd", {
      parent: "bb00000000",
      intent: "upgrade\u001b[31m the framework",
      pauseMs: 250,
    }),
    checkpoint(9, "ee", {
      ...{ parent: "bb00000000", session: "s2", content: "files" },
      derivedIntent: { text: "npm run dev", source: "command" },
    }),
  ],
  operations: [
    operation(0, { readyMs: 80 }),
    operation(6, { kind: "restore", checkpoint: "bb00000000", undo: "cc00000000", readyMs: 35 }),
    operation(8, { kind: "fork", session: "s2", checkpoint: "bb00000000", readyMs: 28 }),
  ],
  decisions: [],
  sessions: [session("s1", "web", "dd"), session("s2", "try", "ee")],
  ...{ elided: [], notShown: 0, notSearched: 0 },
};

test("decisions stand where they were made, each with why and beside what", () => {
  const made = {
    ...{ id: 1, session: "s1", sessionName: "web", at: at(4), checkpoint: "cc00000000" },
    ...{ choice: "SQLite", reason: "no\u001b server", alternatives: ["Postgres", "files"] },
    ...{ task: "1 choose", command: "npm test", isLeft: true },
  };
  const bare = { ...made, at: at(10), reason: null, alternatives: [], task: null, command: null };
  const decisions = [made, { ...bare, sessionName: null, isLeft: false }];
  const lines = renderTimeline(
    { ...LOG, decisions },
    { nowMs: NOW_MS, columns: 150, paint: plain },
  );

  const at4 = lines.findIndex((line) => line.startsWith("14:04"));
  expect(lines.findIndex((line) => line.includes("npm ci"))).toBeLessThan(at4);
  expect(lines[at4]).toMatch(
    /» web decided SQLite: no\S* server \(not Postgres, files; at task 1 choose; after \$ npm test; on a branch that was left\)$/,
  );
  expect(lines.at(-1)).toMatch(/^14:10 +│? *» decided SQLite$/);
});

test("a wide terminal shows the whole tree", () => {
  const lines = renderTimeline(LOG, { nowMs: NOW_MS, columns: 120, paint: plain });

  expect(lines).toEqual([
    "14:00         + web started, 80 ms",
    "14:01  ●        aa0000  clean fresh checkout         12 ms",
    "14:03  ●      ✓ bb0000  npm ci · +1200 files         12 ms",
    "       ├─┬─╮",
    "14:05  ● │ │  ✗ cc0000  before the restore of aa     12 ms",
    "14:06    │ │  ↶ web restored to bb0000, before it cc0000, 35 ms",
    "14:07    ● │    dd0000  upgrade␛[31m the framework  250 ms  ● web",
    "14:08      │  ⑂ try forked from bb0000, 28 ms",
    "14:09      ○    ee0000  $ npm run dev                12 ms  ● try",
  ]);
});

test("in a narrow terminal a checkpoint has one line, without its pause", () => {
  const lines = renderTimeline(LOG, { nowMs: NOW_MS, columns: 56, paint: plain });

  expect(lines).toEqual([
    "14:00         + web started, 80 ms",
    "14:01  ●        aa0000  clean fresh checkout",
    "14:03  ●      ✓ bb0000  npm ci · +1200 files",
    "       ├─┬─╮",
    "14:05  ● │ │  ✗ cc0000  before the restore of aa",
    "14:06    │ │  ↶ web restored to bb0000, before it",
    "         │ │  cc0000, 35 ms",
    "14:07    ● │    dd0000  upgrade␛[31m the framewo…  ● web",
    "14:08      │  ⑂ try forked from bb0000, 28 ms",
    "14:09      ○    ee0000  $ npm run dev              ● try",
  ]);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(56);
});

test("a line that is too long keeps how the command ended, and what matters of what came of it", () => {
  const derivedIntent = {
    text: "pip install --index-url https://example.org/simple requests flask",
    source: "command",
    exitCode: 1,
  } as const;
  const summary = "server.js down, ~ requirements.txt, − data/shop.db, +12 files, +1 −1 processes";
  const log = {
    ...LOG,
    checkpoints: [checkpoint(1, "aa", { derivedIntent, changes: { summary } })],
  };

  const lineAt = (columns: number) =>
    renderTimeline(log, { nowMs: NOW_MS, columns, paint: plain }).find((line) =>
      line.includes("aa0000"),
    );

  expect(lineAt(80)).toBe(
    "14:01  ●    aa0000  $ pip install --i… (exit 1) · server.js down, ~ requirement…",
  );
  expect(lineAt(60)).toBe("14:01  ●    aa0000  $ pip i… (exit 1) · server.js down…");
});

const MANY: OperationOutput<"log"> = {
  ...LOG,
  sessions: [
    ...LOG.sessions,
    ...Array.from({ length: 9 }, (_, index) => session(`f${index}`, `try-${index + 1}`, "bb")),
  ],
};

test("of many sessions that stand at one checkpoint the first are named, and facts keep room", () => {
  const lines = renderTimeline(MANY, { nowMs: NOW_MS, columns: 100, paint: plain });

  expect(lines[2]).toContain("npm ci");
  expect(lines[2]).toMatch(/npm ci · \+1200 files {9}12 ms {2}● try-1/);
  expect(lines[2]).toMatch(/ \+[68]$/);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(100);
});

test("on a very narrow terminal operations go on in the next line", () => {
  const lines = renderTimeline(MANY, { nowMs: NOW_MS, columns: 40, paint: plain });

  expect(lines).toContain("14:06    │ │  ↶ web restored to bb0000,");
  expect(lines).toContain("         │ │  before it cc0000, 35 ms");
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(40);

  const narrower = renderTimeline(MANY, { nowMs: NOW_MS, columns: 30, paint: plain });
  expect(narrower).toContain("●      ✓ bb0000  npm ci");
  for (const line of narrower) expect(line.length).toBeLessThanOrEqual(30);
});

test("a colour is switched off again where a line is cut", () => {
  const paint: Paint = (_format, text) => `\u001b[2m${text}\u001b[22m`;
  const intent = "before the restore of what was there yesterday and the day before that";
  const log = { ...LOG, checkpoints: [checkpoint(1, "aa", { intent, trigger: "before-stop" })] };

  const [, line = ""] = renderTimeline(log, { nowMs: NOW_MS, columns: 50, paint });

  expect(line).toContain("…\u001b[22m");
  expect(stripVTControlCharacters(line).length).toBeLessThanOrEqual(50);
});

test("a day that is not today stands above what happened on it", () => {
  const lines = renderTimeline(
    { ...LOG, operations: [] },
    { nowMs: NOW_MS + 86_400_000, columns: 120, paint: plain },
  );

  expect(lines[0]?.trim()).toBe("2026-03-04");
  expect(lines[1]).toMatch(/^14:01 {2}●/);
  expect(lines.filter((line) => line.includes("2026-"))).toHaveLength(1);
});

test("an empty timeline says how to begin", () => {
  const empty = { ...LOG, checkpoints: [], operations: [], sessions: [] };

  expect(renderTimeline(empty, { nowMs: NOW_MS, columns: 80, paint: plain })).toEqual([
    "No checkpoints yet. Make one with `waypoint checkpoint`.",
  ]);
});
