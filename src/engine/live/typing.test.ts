import { expect, test } from "vitest";
import { hasKeys } from "./typing.ts";

test("keys are what a person types, not what a terminal answers by itself", () => {
  const typed = (text: string) => hasKeys(Buffer.from(text, "latin1"));

  for (const keys of ["a", "\r", "\u0003", "\u001b[A", "\u001b", "\u001b[200~x\u001b[201~"]) {
    expect(typed(keys)).toBe(true);
  }
  expect(typed("\u001b[12;40R\u001b[?62;22c\u001b[I")).toBe(false);
  expect(typed("\u001b]11;rgb:0000/0000/0000\u0007\u001bP>|term\u001b\\")).toBe(false);
  expect(typed("\u001b[Iq")).toBe(true);
  expect(typed("")).toBe(false);
});
