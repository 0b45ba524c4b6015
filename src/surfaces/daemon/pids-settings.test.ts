import { expect, test } from "vitest";
import { pidsFromEnvironment } from "./pids-settings.ts";

const from = (text?: string) => pidsFromEnvironment({ WAYPOINT_PIDS: text }, 4096);

test("the machine's own default, a number, or no limit", () => {
  expect([from(), from("300"), from("unlimited")]).toEqual([4096, 300, null]);
});

test.each(["", "7", "4194305", "1e3", "-1", "none"])("%j is refused", (text) => {
  expect(() => from(text)).toThrow(expect.objectContaining({ code: "USAGE_INVALID" }));
});
