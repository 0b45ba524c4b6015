import { expect, test } from "vitest";
import { describeNftLibrary } from "./check-nft-library.ts";

test("a library that cannot be loaded is an obstacle, and has a fix", () => {
  expect(describeNftLibrary("failed nft: libnftables.so.1 cannot be loaded")).toMatchObject({
    ok: false,
    detail: expect.stringContaining("libnftables.so.1"),
    fix: "apt-get install libnftables1",
  });
});

test.for(["ok", "failed nft: Error: Operation not permitted"])(
  "%s says that it is there",
  (answer) => {
    expect(describeNftLibrary(answer)).toMatchObject({ ok: true, fix: null });
  },
);

test("what could not be tried is not called missing", () => {
  expect(describeNftLibrary(null)).toMatchObject({ ok: true, detail: "could not be tried" });
});
