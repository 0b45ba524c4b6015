import { expect, test } from "vitest";
import { parseIndex } from "./git-index.ts";

const SHA1_BYTES = 20;
const STAT_BYTES = 40;
const ENTRIES_MAX = 20_000;

/** An index of version 4: each entry takes `dropped` bytes off the last path and puts `added` on. */
function compressedIndex(entries: readonly { dropped: number; added: string }[]): Buffer {
  const header = Buffer.from("DIRC\0\0\0\x04\0\0\0\0", "latin1");
  header.writeUInt32BE(entries.length, 8);
  const parts = entries.flatMap(({ dropped, added }) => [
    Buffer.alloc(STAT_BYTES + SHA1_BYTES + 2),
    Buffer.from([dropped]),
    Buffer.from(`${added}\0`, "latin1"),
  ]);
  return Buffer.concat([header, ...parts, Buffer.alloc(SHA1_BYTES)]);
}

function paths(index: Buffer): string[] {
  return parseIndex(index, SHA1_BYTES, ENTRIES_MAX).entries.map(({ path }) => path);
}

test("paths of an index share their beginnings, up to the longest that Linux opens", () => {
  const longest = "a".repeat(4096);

  expect(
    paths(
      compressedIndex([
        { dropped: 0, added: "one/a" },
        { dropped: 1, added: "b" },
      ]),
    ),
  ).toEqual(["one/a", "one/b"]);
  expect(paths(compressedIndex([{ dropped: 0, added: longest }]))).toEqual([longest]);
});

test("an index with paths that add up beyond what is possible is refused", () => {
  const whole = { dropped: 0, added: "a".repeat(4096) };
  const again = { dropped: 1, added: "a" };
  const many = (count: number) => compressedIndex([whole, ...Array(count - 1).fill(again)]);

  expect(paths(many(2048))).toHaveLength(2048);
  expect(() => paths(many(2049))).toThrow("the paths in its index are too long");
  expect(() => paths(compressedIndex([whole, { dropped: 0, added: "b" }]))).toThrow("damaged");
  expect(() => paths(compressedIndex([{ dropped: 0, added: "a".repeat(4097) }]))).toThrow(
    "damaged",
  );
});
