import { expect, test } from "vitest";
import { boundedSize } from "./terminal-size.ts";

test("a size that a program has set is bounded, and a usual one stays", () => {
  expect(boundedSize({ columns: 65_535, rows: 65_535 })).toEqual({ columns: 2000, rows: 1000 });
  expect(boundedSize({ columns: 120, rows: 40 })).toEqual({ columns: 120, rows: 40 });
  expect(boundedSize({ columns: 0, rows: 0 })).toEqual({ columns: 0, rows: 0 });
  expect(boundedSize({ columns: Number.NaN, rows: -1 })).toEqual({ columns: 0, rows: 0 });
});
