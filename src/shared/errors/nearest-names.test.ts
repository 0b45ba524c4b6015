import { expect, test } from "vitest";
import { didYouMean, nearestNames } from "./nearest-names.ts";

const NAMES = ["web", "work", "worker", "try-1", "try-2", "api"];

test.for([
  ["wrok", ["work"]],
  ["Work", ["work", "worker"]],
  ["wor", ["work", "worker"]],
  ["try-3", ["try-1", "try-2"]],
  ["wev", ["web"]],
  ["workers", ["worker", "work"]],
  ["nosuch", []],
  ["", []],
  ["w".repeat(1000), []],
] as const)("%.10s may mean %s", ([typed, near]) => {
  expect(nearestNames(typed, NAMES)).toEqual(near);
});

test("at most three names are offered, in a sentence", () => {
  const many = ["fork-1", "fork-2", "fork-3", "fork-4"];

  expect(didYouMean("fork-5", many)).toBe("Did you mean fork-1, fork-2 or fork-3?");
  expect(didYouMean("wrok", NAMES)).toBe("Did you mean work?");
  expect(didYouMean("zzz", NAMES)).toBe("");
});
