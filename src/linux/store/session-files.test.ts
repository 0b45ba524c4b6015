import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SessionFiles } from "./session-files.ts";

let dir: string;
let files: SessionFiles;

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), "waypoint-session-files-"));
  files = new SessionFiles(dir);
});

afterEach(() => {
  rmSync(dir, { recursive: true });
});

test("a damaged file of one session hides no other", () => {
  files.write("a", { name: "api" });
  files.write("w", { name: "web" });
  writeFileSync(path.join(dir, "a.json"), '{ "name": "a');

  expect(files.readAll()).toEqual([null, { name: "web" }]);
});

test("what a session began with is read again, and goes with the session", async () => {
  files.write("w", { name: "web" });
  files.writeStart("w", { cwd: "/" });

  expect(await files.readStart("w")).toEqual({ cwd: "/" });
  expect(statSync(path.join(dir, "w.json")).mode & 0o777).toBe(0o600);
  expect(files.readAll()).toEqual([{ name: "web" }]);

  files.write("w", null);
  expect(await files.readStart("w")).toBeNull();
  expect(files.readAll()).toEqual([]);
});
