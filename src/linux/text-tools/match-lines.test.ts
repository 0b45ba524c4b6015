import { expect, test } from "vitest";
import { MatchLines, NullSeparated } from "./match-lines.ts";

test("a name with a line break and a line with a colon come apart rightly, in any pieces", () => {
  const printed = Buffer.from("/a\nb:c\u00007:x: y\r\n/d\u000012:\n", "latin1");
  const expected = [
    { file: "/a\nb:c", line: 7, text: "x: y" },
    { file: "/d", line: 12, text: "" },
  ];

  for (const size of [1, 2, 5, printed.length]) {
    const lines = new MatchLines();
    const found = [];
    for (let at = 0; at < printed.length; at += size) {
      found.push(...lines.push(printed.subarray(at, at + size)));
    }
    expect(found).toEqual(expected);
  }
});

test("of a very long line the beginning is kept", () => {
  const [line] = new MatchLines().push(Buffer.from(`/a\u00001:${"x".repeat(100_000)}\n`));

  expect(line?.text).toHaveLength(4096);
});

test("names that end with a NUL are cut, in any pieces", () => {
  const names = new NullSeparated();

  expect(names.push(Buffer.from("/a\u0000/b"))).toEqual(["/a"]);
  expect(names.push(Buffer.from("\xff\u0000", "latin1"))).toEqual(["/b\xff"]);
});
