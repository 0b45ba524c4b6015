import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Pace } from "../pace.ts";
import { findCopiedMoves } from "./find-copied-moves.ts";
import type { TreeEntry } from "./overlay-tree.ts";
import type { RawChange } from "./raw-change.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-moves-"));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

/** A file of the host that stands for one of a session; `null` content makes a directory. */
function entry(content: string | null, mtimeNs = 1n): TreeEntry {
  const hostPath = path.join(directory, Math.random().toString(36).slice(2));
  const isDirectory = content === null;
  if (isDirectory) mkdirSync(hostPath);
  else writeFileSync(hostPath, content);
  return {
    ...{ type: isDirectory ? "directory" : "file", mode: 0o644, uid: 0, gid: 0, device: 0 },
    ...{ sizeBytes: content?.length ?? 0, mtimeNs, upperInode: 1, hostPath },
    directory: isDirectory ? { upper: hostPath, base: null, hasFileWhiteouts: false } : null,
  };
}

function deleted(at: string, before: TreeEntry): RawChange {
  return { change: "deleted", path: at, from: null, before, after: null, what: [] };
}

function added(at: string, after: TreeEntry): RawChange {
  return { change: "added", path: at, from: null, before: null, after, what: [] };
}

async function found(changes: RawChange[]): Promise<string[]> {
  const told = await findCopiedMoves(changes, new Pace(new AbortController().signal));
  return told.map(({ change, path: at, from }) => [change, from, at].filter(Boolean).join(" "));
}

test("a directory that was copied with all that it holds, and removed, was renamed", async () => {
  expect(
    await found([
      ...[deleted("/d", entry(null)), deleted("/d/f", entry("one")), deleted("/d/g", entry("two"))],
      ...[added("/e", entry(null)), added("/e/f", entry("one")), added("/e/g", entry("two"))],
    ]),
  ).toEqual(["renamed /d /e"]);
});

test("a copy with another time or other bytes is no move", async () => {
  expect(await found([deleted("/f", entry("one")), added("/g", entry("one", 2n))])).toEqual([
    "deleted /f",
    "added /g",
  ]);
  expect(await found([deleted("/f", entry("one")), added("/g", entry("two"))])).toEqual([
    "deleted /f",
    "added /g",
  ]);
});

test("a directory is moved whole, and nothing of it a second time", async () => {
  expect(
    await found([
      ...[deleted("/d", entry(null)), deleted("/d/f", entry("one"))],
      ...[added("/a", entry("one")), added("/e", entry(null)), added("/e/f", entry("one"))],
      ...[added("/f", entry(null)), added("/f/f", entry("one"))],
    ]),
  ).toEqual(["added /a", "added /f", "added /f/f", "renamed /d /e"]);
});

test("of two that look the same the one with the name is taken, and without one neither", async () => {
  expect(
    await found([
      ...[deleted("/a/x", entry("one")), deleted("/b/y", entry("one"))],
      added("/c/y", entry("one")),
    ]),
  ).toEqual(["deleted /a/x", "renamed /b/y /c/y"]);
  expect(
    await found([
      ...[deleted("/a/x", entry("one")), deleted("/b/y", entry("one"))],
      added("/c/z", entry("one")),
    ]),
  ).toEqual(["deleted /a/x", "deleted /b/y", "added /c/z"]);
});

test("nothing tells an empty file from another", async () => {
  expect(await found([deleted("/f", entry("")), added("/g", entry(""))])).toEqual([
    "deleted /f",
    "added /g",
  ]);
});
