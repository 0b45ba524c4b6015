import { expect, test } from "vitest";
import { requireSize } from "./require-size.ts";

test("what is too large is told, also what is larger than any text", () => {
  const larger = { toJSON: () => "x".repeat(2 ** 29) };
  const sizes = [
    ["x".repeat(16 * 1024 ** 2), "16.0 MiB are more than one call takes."],
    [larger, "That is more than one call takes."],
  ] as const;
  for (const [value, message] of sizes) {
    expect(() => requireSize({ set: { a: value } })).toThrow(
      expect.objectContaining({ code: "STATE_TOO_LARGE", message }),
    );
  }
  expect(() => requireSize({ set: { a: 1 } })).not.toThrow();
});

test("what is no JSON is told as that", () => {
  const round: Record<string, unknown> = {};
  round["self"] = round;
  let deep: unknown = [];
  for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
  for (const wrong of [round, { a: 1n }, { deep }]) {
    expect(() => requireSize(wrong)).toThrow(expect.objectContaining({ code: "USAGE_INVALID" }));
  }
});
