import { expect, test } from "vitest";
import { describeSocketClosing } from "./check-socket-closing.ts";

test("a kernel that closes no connections is no obstacle, and has a fix", () => {
  expect(describeSocketClosing("ECONNABORTED")).toMatchObject({ ok: true, fix: null });
  expect(describeSocketClosing("alive")).toMatchObject({
    ok: true,
    detail: expect.stringContaining("missing"),
    fix: expect.stringContaining("CONFIG_INET_DIAG_DESTROY"),
  });
});

test("what could not be tried is not called missing", () => {
  for (const outcome of ["untried", "", "ECONNREFUSED"]) {
    expect(describeSocketClosing(outcome)).toMatchObject({
      detail: "could not be tried",
      fix: null,
    });
  }
});
