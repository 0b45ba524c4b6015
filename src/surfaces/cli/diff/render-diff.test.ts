import { expect, test } from "vitest";
import type { Changes, FileChange } from "../../../shared/protocol/index.ts";
import { plain } from "../text/style.ts";
import { isDifferent, renderDiff } from "./render-diff.ts";

const FILES: FileChange[] = [
  { path: "/new", change: "added", type: "file", sizeBefore: null, sizeAfter: 2048 },
  {
    ...{ path: "/etc/a\u001b[31m", change: "modified", type: "file", sizeBefore: 1, sizeAfter: 2 },
    ...{ what: ["content", "mode"], modeBefore: "0644", modeAfter: "0600" },
    patch: "--- a/etc/a\n+++ b/etc/a\n@@ -1 +1 @@\n-\u0007\n+y\n",
  },
  { path: "/old", change: "deleted", type: "symlink", sizeBefore: 3, sizeAfter: null },
  {
    ...{ path: "/to", from: "/from", change: "renamed", type: "directory" },
    ...{ sizeBefore: 0, sizeAfter: 0 },
  },
  {
    ...{ path: "/app/node_modules", change: "added", type: "directory", group: "node_modules" },
    ...{ files: 1204, sizeBefore: 0, sizeAfter: 1024 },
    totals: { added: 1204, modified: 0, deleted: 0, renamed: 0, directories: 9 },
  },
  {
    ...{ path: "/bin", change: "modified", type: "file", sizeBefore: 5, sizeAfter: 5 },
    ...{ what: ["content"], noPatch: "binary" },
  },
];

const CHANGES: Changes = {
  ...{ summary: "something", files: FILES, packages: null, processes: null, ports: null },
  fileTotals: { added: 1205, modified: 2, deleted: 1, renamed: 1, directories: 9 },
  ...{ connections: null, env: [], functions: [], cwd: null, virtualenv: null, git: [] },
  unknown: { packages: "broken", processes: "gone", ports: "gone" },
};

const LISTED = [
  "+ /new  2.0 KiB",
  "~ /etc/a␛[31m  1 B → 2 B, mode 0644 → 0600",
  "- /old  symlink",
  "> /from/ → /to/",
  "+ /app/node_modules/ (node_modules: 1,204 files)  0 B → 1.0 KiB",
  "~ /bin  5 B",
];
const UNKNOWN = ["Unknown: packages (broken)", "Unknown: processes, ports (gone)"];

test("files are listed with what happened to them, safe for a terminal", () => {
  expect(renderDiff(CHANGES, { style: "stat", isBelowPath: false, paint: plain })).toEqual([
    ...LISTED,
    ...UNKNOWN,
  ]);
});

test("the lines of texts follow, without anything that a terminal would obey", () => {
  expect(renderDiff(CHANGES, { style: "patches", isBelowPath: false, paint: plain })).toEqual([
    ...LISTED,
    ...["", "--- a/etc/a", "+++ b/etc/a", "@@ -1 +1 @@", "-␇", "+y"],
    ...["", "/bin: binary files differ"],
    ...UNKNOWN,
  ]);
});

test("names alone are one line each, and what is beyond the list is counted", () => {
  const more = { ...CHANGES, fileTotals: { ...NONE, added: 3 }, files: FILES.slice(0, 1) };

  expect(renderDiff(more, { style: "names", isBelowPath: false, paint: plain })).toEqual([
    "+ /new",
    "… and 2 more; give a path to see them",
  ]);
});

test("nothing is printed where nothing differs, and unknown files are no sameness", () => {
  const same = { ...CHANGES, summary: "", files: [], fileTotals: NONE, unknown: {} };

  expect(renderDiff(same, { style: "patches", isBelowPath: false, paint: plain })).toEqual([]);
  expect(isDifferent(same)).toBe(false);
  expect(isDifferent({ ...same, files: null })).toBe(true);
  expect(isDifferent(CHANGES)).toBe(true);
});

const PROCESS = {
  ...{ pid: 41, parentPid: 2, programId: "00", command: "redis-server *:6379", cwd: "/srv" },
  ...{ user: "root", memoryBytes: 8 * 1024 * 1024 },
};
const RUNNING: Changes = {
  ...CHANGES,
  ...{ files: [], fileTotals: null, summary: "", unknown: { functions: "no bash", files: "gone" } },
  processes: {
    started: [PROCESS],
    ended: [{ ...PROCESS, pid: 9, command: "\u001b]0;owned\u0007", user: null, cwd: null }],
    still: [PROCESS],
  },
  ports: {
    opened: [
      { protocol: "tcp", address: "::", port: 6379, pid: 41, command: "redis-server *:6379" },
    ],
    closed: [{ protocol: "unix", address: "@a\nb", port: null, pid: null, command: null }],
  },
  connections: {
    opened: [
      { protocol: "tcp", local: "10.0.0.2:4000", remote: "[2001::1]:443", pid: 41, command: "c" },
    ],
    closed: [],
  },
  cwd: { before: "/root", after: "/srv\u001b[2J" },
  virtualenv: { before: null, after: "/srv/venv" },
  env: [
    { name: "PORT", change: "modified", before: "1", after: "2\r" },
    { name: "API_TOKEN", change: "modified", before: "hunter2", after: "hunter3" },
    { name: "DB", change: "added", before: null, after: "postgres://me:hunter2@host/db" },
    { name: "OLD", change: "deleted", before: "x", after: null },
  ],
  functions: [
    { name: "greet", change: "added", before: null, after: "greet () {\n    \u001bc\n}" },
  ],
};

test("processes, ports and the shell are listed, safe for a terminal and without secrets", () => {
  const lines = renderDiff(RUNNING, { style: "patches", isBelowPath: false, paint: plain });

  expect(lines).toEqual([
    "+ process 41 redis-server *:6379  root, /srv, 8.0 MiB",
    "- process 9 ␛]0;owned␇  8.0 MiB",
    "+ port tcp [::]:6379  41 redis-server *:6379",
    "- port unix @a␊b",
    "+ connection tcp 10.0.0.2:4000 → [2001::1]:443  41 c",
    "~ directory /root → /srv␛[2J",
    "~ virtualenv - → /srv/venv",
    "~ env PORT=1 → 2␍",
    "~ env API_TOKEN=••• (changed)",
    "+ env DB=postgres://me:•••@host/db",
    "- env OLD=x",
    "+ function greet",
    ...["", "+greet () {", "+    ␛c", "+}"],
    ...["Unknown: functions (no bash)", "Unknown: files (gone)"],
  ]);
});

test("what differs in processes or the shell alone is a difference", () => {
  const same = { ...RUNNING, files: [], ports: null, env: [], functions: [], connections: null };
  const none = { ...same, processes: null, cwd: null, virtualenv: null };

  expect(isDifferent(none)).toBe(false);
  expect(isDifferent({ ...none, processes: RUNNING.processes })).toBe(true);
  expect(isDifferent({ ...none, cwd: RUNNING.cwd })).toBe(true);
  expect(isDifferent({ ...none, cwd: { before: "/", after: "/" } })).toBe(false);
});

test("who asks for some sections is told what is unknown of these alone", () => {
  const options = { style: "stat", isBelowPath: false, paint: plain } as const;
  const none = {
    ...RUNNING,
    files: null,
    fileTotals: null,
    cwd: null,
    virtualenv: null,
    env: null,
  };
  const only = { ...none, processes: null, ports: null, connections: null, functions: null };

  expect(renderDiff(only, { ...options, sections: ["functions"] })).toEqual([
    "Unknown: functions (no bash)",
  ]);
  expect(isDifferent(only, ["functions"])).toBe(true);
  expect(isDifferent({ ...only, functions: [] }, ["functions"])).toBe(false);
});

test("who asks for a path is told nothing of what lies at none", () => {
  const none = { ...RUNNING, processes: null, ports: null, connections: null, cwd: null };
  const options = { style: "stat", isBelowPath: true, paint: plain } as const;

  expect(renderDiff({ ...none, env: null, functions: null, virtualenv: null }, options)).toEqual([
    "Unknown: files (gone)",
  ]);
});

const NONE = { added: 0, modified: 0, deleted: 0, renamed: 0, directories: 0 };
