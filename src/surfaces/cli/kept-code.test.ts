import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadWithKeptCode, NO_COMMAND } from "./kept-code.ts";

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "waypoint-kept-code-"));
  file = join(folder, "program.cjs");
  writeFileSync(file, "exports.answer = () => 42; exports.place = __filename;");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const kept = () => readdirSync(join(folder, "kept")).toSorted();
const load = (command: string) => {
  const require = createRequire(file);
  delete require.cache[file];
  const keep = loadWithKeptCode(file, join(folder, "kept"), command);
  return { keep, loaded: require(file) as { answer: () => number; place: string } };
};

test("what was loaded is what require gives", () => {
  const { loaded } = load("ls");

  expect(loaded.answer()).toBe(42);
  expect(loaded.place).toBe(file);
});

test("code is kept for each command once, and for all that is none together", () => {
  load("ls").keep("ls");
  load("nonsense").keep(NO_COMMAND);
  const [ls = "", other = ""] = kept();
  const before = statSync(join(folder, "kept", ls)).ino;
  load("ls").keep("ls");
  load("more").keep(NO_COMMAND);

  expect(ls).toMatch(/-ls$/);
  expect(other).toMatch(/-other$/);
  expect(kept()).toEqual([ls, other]);
  expect(statSync(join(folder, "kept", ls)).ino).toBe(before);
});

test("code of another text, or no code, is not run", () => {
  load("ls").keep("ls");
  const [ls = ""] = kept();
  writeFileSync(join(folder, "kept", ls), "no code");
  expect(load("ls").loaded.answer()).toBe(42);

  writeFileSync(file, "exports.answer = () => 43; exports.place = __filename;");
  utimesSync(file, 1, 1);
  expect(load("ls").loaded.answer()).toBe(43);
});

test("a folder that cannot be made keeps nothing from working", () => {
  writeFileSync(join(folder, "kept"), "a file");
  const { keep, loaded } = load("ls");
  keep("ls");

  expect(loaded.answer()).toBe(42);
});
