import fc from "fast-check";
import { expect, test } from "vitest";
import { isValidName, NAME_LENGTH_MAX } from "../../shared/protocol/index.ts";
import { makeUpName, numberedNames, requireValidName } from "./names.ts";

test.each(["a", "7", "web-1", "A.b_c-d", "n".repeat(NAME_LENGTH_MAX)])("%s is a name", (name) => {
  expect(requireValidName(name)).toBe(name);
});

test.each([
  "",
  " ",
  ".hidden",
  "-option",
  "_x",
  "a b",
  "a/b",
  "a@",
  "a~1",
  "a\n",
  "größe",
  "n".repeat(65),
])("%j is none", (name) => {
  expect(() => requireValidName(name)).toThrow(
    expect.objectContaining({ code: "NAME_INVALID", detail: { length: name.length } }),
  );
});

test("the message shows a long name cut short, without its control characters", () => {
  const name = `\u001b[31m${"x".repeat(300)}`;

  expect(() => requireValidName(name)).toThrow(/^"\\u001b\[31mx{75}…" cannot be a name\.$/);
});

test("no name can be taken for a path, an option or a reference", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 4 }), fc.nat(3), (text, place) => {
      const name = `${"web".slice(0, place)}${text}${"web".slice(place)}`;
      const isTroublesome = /[/@~\s\0]|^[-.]/.test(name);
      expect(isTroublesome && isValidName(name)).toBe(false);
    }),
  );
});

test("a name that is made up is valid and free", () => {
  const taken = new Set<string>();
  for (let count = 0; count < 200; count += 1) {
    const name = makeUpName((candidate) => taken.has(candidate));
    expect(isValidName(name) && !taken.has(name)).toBe(true);
    taken.add(name);
  }
});

test("one fork has the name itself, several are numbered from 1", () => {
  expect(numberedNames("try", 1)).toEqual(["try"]);
  expect(numberedNames("try", 3)).toEqual(["try-1", "try-2", "try-3"]);
});
