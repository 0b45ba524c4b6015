import { expect, test } from "vitest";
import { atTopRight, columnsOfPipe } from "./output.ts";
import { plain } from "./text/style.ts";

test("a line in a pipe is as long as COLUMNS says, or as one line should be", () => {
  expect(columnsOfPipe({})).toBe(160);
  expect(columnsOfPipe({ COLUMNS: "80" })).toBe(80);
  expect(columnsOfPipe({ COLUMNS: "0" })).toBe(20);
  expect(columnsOfPipe({ COLUMNS: "wide" })).toBe(160);
});

test.for([
  [20, "\u001b7\u001b[0m\u001b[1;11Habcdefghij\u001b8"],
  [4, "\u001b7\u001b[0m\u001b[1;1Hghij\u001b8"],
] as const)("a remark ends at column %d of the first line", ([columns, written]) => {
  expect(atTopRight("abcdefghij", columns, plain)).toBe(written);
});
