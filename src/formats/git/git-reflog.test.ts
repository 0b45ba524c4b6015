import { expect, test } from "vitest";
import { commitBefore, entriesIn } from "./git-reflog.ts";

const id = (digit: string) => digit.repeat(40);

function log(...entries: readonly [commit: string, seconds: number][]): Buffer {
  const lines = entries.map(([commit, seconds], number) => {
    const before = entries[number - 1]?.[0] ?? id("0");
    return `${before} ${commit} A > B <a@b> ${seconds} +0100\tcommit: x\n`;
  });
  return Buffer.from(lines.join(""));
}

test("the commit is the last one that was there before a time, not in the same second", () => {
  const reflog = log([id("a"), 10], [id("b"), 20], [id("c"), 30]);

  expect(commitBefore(reflog, 21)).toBe(id("b"));
  expect(commitBefore(reflog, 20)).toBe(id("a"));
  expect(commitBefore(reflog, 99)).toBe(id("c"));
  expect(commitBefore(reflog, 10)).toBeNull();
});

test("an entry whose clock was set back is no older than the one before it", () => {
  expect(commitBefore(log([id("a"), 10], [id("b"), 30], [id("c"), 5]), 20)).toBe(id("a"));
});

test("a reference that was removed stood at nothing, and what is no log says nothing", () => {
  expect(commitBefore(log([id("a"), 10], [id("0"), 20]), 25)).toBeNull();
  expect(commitBefore(Buffer.from("\xff\0 nothing\n"), 25)).toBeNull();
});

test("of one second the entries are told newest first, with who has made a commit", () => {
  const line = (id: string, seconds: number, action: string) =>
    `${"0".repeat(40)} ${id} A > B <a@b> ${seconds} +0100${action}\n`;
  const reflog = Buffer.from(
    [
      line(id("a"), 10, "\tcommit (initial): x"),
      line(id("b"), 20, "\tcommit: commit"),
      line(id("c"), 20, "\tcheckout: moving from commit to b"),
      line(id("d"), 19, ""),
      line(id("e"), 21, "\tcommit: y"),
    ].join(""),
  );

  expect(entriesIn(reflog, 20)).toEqual([
    { id: id("d"), isNew: false },
    { id: id("c"), isNew: false },
    { id: id("b"), isNew: true },
  ]);
  expect(entriesIn(reflog, 10)).toEqual([{ id: id("a"), isNew: true }]);
  expect(entriesIn(reflog, 15)).toEqual([]);
});
