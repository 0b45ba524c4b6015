import { expect, test } from "vitest";
import { choosePager, isLongerThan, openAtEnd } from "./pager.ts";

test("the pager is Waypoint's own, else everybody's, else less", () => {
  expect(choosePager({ WAYPOINT_PAGER: "most", PAGER: "more" })).toBe("most");
  expect(choosePager({ PAGER: "more" })).toBe("more");
  expect(choosePager({})).toBe("less -FRX");
});

test("an empty one, or cat, is none", () => {
  expect(choosePager({ WAYPOINT_PAGER: "", PAGER: "more" })).toBeNull();
  expect(choosePager({ PAGER: " cat " })).toBeNull();
});

test("long lines take several rows, and the prompt has one", () => {
  const screen = { columns: 10, rows: 4 };

  expect(isLongerThan(["a", "b", "c"], screen)).toBe(false);
  expect(isLongerThan(["a", "b", "c", "d"], screen)).toBe(true);
  expect(isLongerThan(["a", "b".repeat(11), "c"], screen)).toBe(true);
  expect(isLongerThan([`\u001b[31m${"b".repeat(10)}\u001b[39m`, "", ""], screen)).toBe(false);
  expect(isLongerThan([], screen)).toBe(false);
});

test("less opens at the newest; any other pager is run as it was written", () => {
  expect(openAtEnd("less -FRX")).toBe("less -FRX +G");
  expect(openAtEnd("/usr/bin/less")).toBe("/usr/bin/less +G");
  for (const own of ["most", "less -R | tee seen", "cat > less", "less -R +F"]) {
    expect(openAtEnd(own)).toBe(own);
  }
});
