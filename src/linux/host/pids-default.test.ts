import { expect, test } from "vitest";
import { pidsDefault } from "./pids-default.ts";

test("an eighth of what the tightest limit of the machine allows", () => {
  expect(pidsDefault([32_768, 192_730])).toBe(4096);
  expect(pidsDefault([4_194_304, 30_000])).toBe(3750);
});

test("never more than a large machine needs, nor less than ordinary work does", () => {
  expect(pidsDefault([4_194_304, 2_000_000])).toBe(16_384);
  expect(pidsDefault([32_768, 1000])).toBe(512);
});

test("a limit that cannot be read, and a group without one, say nothing", () => {
  expect(pidsDefault([Number.NaN, 32_768, Number("max"), 0])).toBe(4096);
  expect(pidsDefault([])).toBe(16_384);
});
