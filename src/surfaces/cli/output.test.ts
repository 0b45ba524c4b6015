import { expect, test } from "vitest";
import { columnsOfPipe } from "./output.ts";

test("a line in a pipe is as long as COLUMNS says, or as one line should be", () => {
  expect(columnsOfPipe({})).toBe(160);
  expect(columnsOfPipe({ COLUMNS: "80" })).toBe(80);
  expect(columnsOfPipe({ COLUMNS: "0" })).toBe(20);
  expect(columnsOfPipe({ COLUMNS: "wide" })).toBe(160);
});
