import { expect, test } from "vitest";
import { describeFollowedWrites } from "./check-followed-writes.ts";

test("a kernel that does not tell what was written is no obstacle, and has a fix", () => {
  expect(describeFollowedWrites("")).toMatchObject({ ok: true, fix: null });
  expect(describeFollowedWrites("writes that show")).toMatchObject({
    ok: true,
    detail: expect.stringContaining("missing: writes that show"),
    fix: expect.stringContaining("6.7"),
  });
});

test("what could not be tried is not called missing", () => {
  expect(describeFollowedWrites(null)).toMatchObject({ detail: "could not be tried", fix: null });
});
