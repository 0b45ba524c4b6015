import { expect, test } from "vitest";
import { encodeProgram } from "./program-spec.ts";

const PROGRAM = { argv: ["sh", ""], env: { A: "1" }, cwd: "/", uid: 1, gid: 2, groups: [3] };

test("a program has the documented layout", () => {
  const bytes = encodeProgram(PROGRAM);

  const numbers = Array.from({ length: 6 }, (_, index) => bytes.readUInt32LE(4 * index));
  expect(numbers).toEqual([1, 2, 1, 2, 1, 3]);
  expect(bytes.subarray(24).toString()).toBe("/\0sh\0\0A=1\0");
});

test.each([{ argv: [] }, { argv: ["a\0b"] }, { env: { BIG: "x".repeat(70_000) } }])(
  "a program that init would refuse is refused here",
  (change) => {
    expect(() => encodeProgram({ ...PROGRAM, ...change })).toThrow(
      expect.objectContaining({ code: "USAGE_INVALID" }),
    );
  },
);
