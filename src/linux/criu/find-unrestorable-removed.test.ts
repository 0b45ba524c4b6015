import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findTaken } from "./find-unrestorable-removed.ts";

let root: string;

beforeAll(() => {
  root = mkdtempSync(path.join(os.tmpdir(), "waypoint-taken-"));
  mkdirSync(path.join(root, "full/inner"), { recursive: true });
  mkdirSync(path.join(root, "empty"));
  writeFileSync(path.join(root, "file"), "");
  symlinkSync("/", path.join(root, "link"));
});

afterAll(() => rmSync(root, { recursive: true }));

test("a directory cannot be made where something is, but for an empty one", () => {
  expect(findTaken(root, "/full", true)).toBe("/full");
  expect(findTaken(root, "/file", true)).toBe("/file");
  expect(findTaken(root, "/empty", true)).toBe(null);
  expect(findTaken(root, "/gone/deeper", true)).toBe(null);
});

test("a file can be made beside anything, below directories only", () => {
  expect(findTaken(root, "/full", false)).toBe(null);
  expect(findTaken(root, "/file", false)).toBe(null);
  expect(findTaken(root, "/file/below", false)).toBe("/file");
  expect(findTaken(root, "/link/below", false)).toBe(null);
});
