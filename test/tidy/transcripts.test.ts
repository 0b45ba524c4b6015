import { expect, test } from "vitest";
import { blocksOf, fillIn, whatItSays } from "../../scripts/docs/transcripts.ts";

const PAGE = [
  "# Page",
  "<!-- printed: first -->",
  "```text",
  "Session web is back at 29xm9kr4rb in 8.8 ms",
  "```",
  "```sh",
  "left alone",
  "```",
  "<!-- printed: second -->",
  "```text",
  "old words",
  "```",
  "",
].join("\n");

test("a page is filled with what was printed, and says which blocks told something else", () => {
  const printed = new Map([
    ["first", "Session web is back at qrqrare8gi in 12 ms\n"],
    ["second", "new words\n"],
  ]);

  const { text, stale } = fillIn(PAGE, printed);

  expect(stale).toEqual(["second"]);
  expect(blocksOf(text)).toEqual(["first", "second"]);
  expect(text).toContain("qrqrare8gi in 12 ms\n```");
  expect(text).toContain("new words\n```");
  expect(text).toContain("left alone");
});

test("a block that nothing prints is stale, and stays", () => {
  const { text, stale } = fillIn(PAGE, new Map());

  expect(stale).toEqual(["first", "second"]);
  expect(text).toBe(PAGE);
});

test("words, paths and numbers of lines are compared; ids, times and amounts are not", () => {
  const one = "03:21  ○  ✓ e9mru7  step 0  +1 file\n  ✗ 6528i83zww  bad (360 ms)\n";
  const other = "14:07  ○  ✓ 7ab9c2  step 0    +1 file\n";

  expect(whatItSays(one)).toBe(whatItSays(other));
  expect(whatItSays(one)).not.toBe(whatItSays(other.replace("+1 file", "+2 files")));
  expect(whatItSays(one)).not.toBe(whatItSays(other.replace("✓", "✗")));
});
