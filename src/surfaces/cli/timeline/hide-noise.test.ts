import { expect, test } from "vitest";
import { hideNoise } from "./hide-noise.ts";

test.for([
  ["~ app.js, ~ debug.log", ["*.log"], "~ app.js, ~1 file"],
  ["~ debug.log, 2 packages, +1,200 ~3 files", ["*.log"], "2 packages, +1,200 ~4 files"],
  ["redis down, − out/a.js, + b.js", ["out"], "redis down, + b.js, −1 file"],
  ["a.log → b.log, server.js 3000→3001", ["*.log"], "server.js 3000→3001, →1 file"],
  ["a.js → b.log", ["*.log"], "a.js → b.log"],
  ["~ app.js, +3 files", ["*.log"], "~ app.js, +3 files"],
  ["", ["*"], ""],
  ["~ a", [], "~ a"],
] as const)("%s without %j is %s", ([summary, globs, expected]) => {
  expect(hideNoise(summary, globs)).toBe(expected);
});
