import fc from "fast-check";
import { expect, test } from "vitest";
import { ElfImage } from "./elf-image.ts";

const HEADER_BYTES = 64;
const PROGRAM_HEADER_AT = HEADER_BYTES;
const SECTIONS_AT = PROGRAM_HEADER_AT + 56;
const SYMBOLS_AT = SECTIONS_AT + 3 * 64;
const NAMES = "\0first\0first_of_all\0";
const NAMES_AT = SYMBOLS_AT + 3 * 24;
const FIRST_ADDRESS = 0x400000;

/** A 64-bit program with two symbols that it has, and one that it wants. */
function program(): Buffer {
  const bytes = Buffer.alloc(NAMES_AT + NAMES.length);
  bytes.write("\u007fELF", 0, "latin1");
  bytes.set([2, 1], 4);
  bytes.writeUInt16LE(62, 18);
  bytes.writeBigUInt64LE(BigInt(PROGRAM_HEADER_AT), 32);
  bytes.writeBigUInt64LE(BigInt(SECTIONS_AT), 40);
  bytes.writeUInt16LE(56, 54);
  bytes.writeUInt16LE(1, 56);
  bytes.writeUInt16LE(3, 60);
  bytes.writeUInt32LE(1, PROGRAM_HEADER_AT); // PT_LOAD of the file's beginning
  bytes.writeBigUInt64LE(BigInt(FIRST_ADDRESS), PROGRAM_HEADER_AT + 16);
  section(bytes, 1, { type: 11, link: 2, offset: SYMBOLS_AT, sizeBytes: 3 * 24 });
  section(bytes, 2, { type: 3, link: 0, offset: NAMES_AT, sizeBytes: NAMES.length });
  for (const [index, [name, address]] of [
    [7, FIRST_ADDRESS + 0x20],
    [1, FIRST_ADDRESS + 0x10],
    [1, 0],
  ].entries()) {
    bytes.writeUInt32LE(name ?? 0, SYMBOLS_AT + index * 24);
    bytes.writeBigUInt64LE(BigInt(address ?? 0), SYMBOLS_AT + index * 24 + 8);
  }
  bytes.write(NAMES, NAMES_AT, "latin1");
  return bytes;
}

function section(
  bytes: Buffer,
  index: number,
  { type, link, offset, sizeBytes }: Record<"type" | "link" | "offset" | "sizeBytes", number>,
): void {
  const at = SECTIONS_AT + index * 64;
  bytes.writeUInt32LE(type, at + 4);
  bytes.writeBigUInt64LE(BigInt(offset), at + 24);
  bytes.writeBigUInt64LE(BigInt(sizeBytes), at + 32);
  bytes.writeUInt32LE(link, at + 40);
}

const imageOf = (bytes: Buffer) =>
  new ElfImage((offset, count) => bytes.subarray(offset, offset + count));

test("symbols are found by their whole names, counted from the program's beginning", () => {
  const symbols = imageOf(program()).symbols(["first", "first_of_all", "second"]);

  expect([...symbols]).toEqual([
    ["first_of_all", 0x20],
    ["first", 0x10],
  ]);
});

test("what is no 64-bit program, or is cut off, is refused with a reason", () => {
  const narrow = program();
  narrow[4] = 1;

  expect(() => imageOf(Buffer.from("#!/bin/sh\n")).symbols(["first"])).toThrow("no 64-bit program");
  expect(() => imageOf(narrow).symbols(["first"])).toThrow("no 64-bit program");
  expect(() => imageOf(program().subarray(0, SYMBOLS_AT)).symbols(["first"])).toThrow("cut off");
});

test("a table of any size is refused before it is read", () => {
  const huge = program();
  section(huge, 2, { type: 3, link: 0, offset: NAMES_AT, sizeBytes: 2 ** 40 });

  expect(() => imageOf(huge).symbols(["first"])).toThrow("too large");
});

test("bytes that were changed give symbols or a reason", () => {
  const property = fc.property(
    fc.integer({ min: 4, max: NAMES_AT - 1 }),
    fc.integer({ min: 0, max: 255 }),
    (at, value) => {
      const bytes = program();
      bytes[at] = value;
      try {
        expect(imageOf(bytes).symbols(["first"])).toBeInstanceOf(Map);
      } catch (error) {
        expect((error as Error).message).toMatch(/^the shell/);
      }
    },
  );

  fc.assert(property, { numRuns: 500 });
});
