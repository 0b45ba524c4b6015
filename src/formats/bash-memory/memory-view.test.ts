import { expect, test } from "vitest";
import { readBashVariables } from "./bash-tables.ts";
import { MemoryView } from "./memory-view.ts";

/** Memory with one stretch, into which words of eight bytes and texts are put at addresses. */
function memoryOf(words: Record<number, number>, texts: Record<number, string>): MemoryView {
  const bytes = Buffer.alloc(0x1000);
  for (const [at, word] of Object.entries(words)) bytes.writeBigUInt64LE(BigInt(word), Number(at));
  for (const [at, text] of Object.entries(texts)) bytes.write(`${text}\0`, Number(at));
  return new MemoryView([{ address: 0, bytes }]);
}

const TWO = 2 ** 32;
/** A context at 0x10 with a table at 0x60 of one bucket and one variable, A=1, exported. */
const WORDS = {
  ...{ 8: 0x10, 48: 0x60, 96: 0x80, 104: 1 + 1 * TWO, 128: 0x90 },
  ...{ 144: 0, 152: 0x200, 160: 0xc0 },
  ...{ 192: 0x210, 200: 0x220, 232: 1 },
};
const TEXTS = { 512: "A", 528: "A", 544: "1" };
const ROOTS = { variables: 0x08, functions: 0 };

/** What ends a text of a mebibyte. */
const END = { address: 1024 ** 2, bytes: Buffer.from([0]) };

test("an exported variable is found in its table", () => {
  expect(readBashVariables(memoryOf(WORDS, TEXTS), ROOTS)).toEqual(new Map([["A", "1"]]));
});

test("variables that are not exported, arrays and unset ones are no environment", () => {
  for (const attributes of [0, 0x1 | 0x4, 0x1 | 0x40, 0x1 | 0x1000]) {
    const memory = memoryOf({ ...WORDS, 232: attributes }, TEXTS);
    expect(readBashVariables(memory, ROOTS)).toEqual(new Map());
  }
});

test("a table that does not hold together is refused", () => {
  const broken: [Record<number, number>, Record<number, string>, string][] = [
    [{ 104: 1 + 2 * TWO }, {}, "a table of the shell is incomplete"],
    [{ 104: 0 }, {}, "the shell's memory holds no table"],
    [{ 144: 0x90 }, {}, "a table of the shell is broken"],
    [{}, { 528: "B" }, "a table of the shell is broken"],
    [{ 48: 0x12345678 }, {}, "nothing is known of the shell's memory at 0x12345680"],
  ];

  for (const [words, texts, message] of broken) {
    const memory = memoryOf({ ...WORDS, ...words }, { ...TEXTS, ...texts });
    expect(() => readBashVariables(memory, ROOTS)).toThrow(message);
  }
});

test("texts and numbers are read across stretches and beyond 32 bits", () => {
  const high = 0x7f00_0000_0000;
  const memory = new MemoryView([
    { address: high + 4, bytes: Buffer.from("lo\0\0\0\0\0\0\0\0\0\0") },
    { address: high, bytes: Buffer.from("hel-") },
    { address: 0x10, bytes: Buffer.from([0, 0, 0, 0, 0, 0x7f, 0, 0]) },
  ]);

  expect(memory.text(high)).toBe("hel-lo");
  expect(memory.pointer(0x10)).toBe(high);
  expect(() => memory.pointer(0x14)).toThrow("nothing is known");
  expect(() => memory.text(high - 1)).toThrow("nothing is known");
});

test("texts of one memory are handed out until they are 16 MiB together", () => {
  const mebibyte = 1024 ** 2;
  const memory = new MemoryView([{ address: 0, bytes: Buffer.alloc(mebibyte, "a") }, END]);

  for (let number = 0; number < 16; number += 1) {
    expect(memory.text(1)).toHaveLength(mebibyte - 1);
  }

  expect(() => memory.text(1)).toThrow("the texts of the shell are too long");
});
