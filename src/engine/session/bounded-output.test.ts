import { expect, test } from "vitest";
import { BoundedOutput } from "./bounded-output.ts";

function filled(bytesMax: number, ...texts: string[]): BoundedOutput {
  const output = new BoundedOutput(bytesMax);
  for (const text of texts) output.add(Buffer.from(text));
  return output;
}

test("what fits is whole and not truncated", () => {
  const output = filled(6, "abc", "def");

  expect([output.text(), output.truncated]).toEqual(["abcdef", false]);
});

test("of what does not fit the beginning is kept", () => {
  const output = filled(5, "abc", "def", "ghi");

  expect([output.text(), output.truncated]).toEqual(["abcde", true]);
});

test("nothing is kept where nothing is to be kept", () => {
  expect([filled(0, "a").text(), filled(0, "a").truncated]).toEqual(["", true]);
  expect([filled(0).text(), filled(0).truncated]).toEqual(["", false]);
});

test("the bytes may be used again by whoever gave them", () => {
  const output = new BoundedOutput(10);
  const bytes = Buffer.from("abc");
  output.add(bytes);
  bytes.fill(0);

  expect(output.text()).toBe("abc");
});
