import { expect, test } from "vitest";
import { verdictOf } from "./verdict.ts";

test("0 is passing, what a command says itself is failing, and all else is no verdict", () => {
  const verdicts = [0, 1, 125, 126, 127, 130, 137].map((exitCode) =>
    verdictOf({ exitCode, timedOut: false }),
  );

  expect(verdicts).toEqual(["passing", "failing", "failing", null, null, null, null]);
  expect(verdictOf({ exitCode: 0, timedOut: true })).toBeNull();
  expect(verdictOf({ exitCode: 124, timedOut: true })).toBeNull();
});
