import { expect, test } from "vitest";
import { findTerminals } from "./read-init-memory.ts";

const RING_BYTES = 8192;
const RING_ADDRESS = 0x7000_0000;

/** The memory of an init with one terminal whose ring holds `printed`, as much as it can. */
function memoryWith(printed: Buffer) {
  const head = Buffer.alloc(4096);
  head.write("waypoint-term-1\0", "latin1");
  head.writeUInt32LE(3, 16);
  head.writeUInt16LE(80, 20);
  head.writeUInt16LE(24, 22);
  head.writeBigUInt64LE(BigInt(RING_ADDRESS), 24);
  head.writeUInt32LE(RING_BYTES, 32);
  head.writeBigUInt64LE(BigInt(Math.max(0, printed.length - RING_BYTES)), 40);
  head.writeBigUInt64LE(BigInt(printed.length), 48);
  const ring = Buffer.alloc(RING_BYTES);
  for (const [offset, byte] of printed.entries()) ring[offset % RING_BYTES] = byte;
  return [
    { address: 0x1000, bytes: Buffer.concat([Buffer.alloc(4096, "x"), head]) },
    { address: RING_ADDRESS, bytes: ring.subarray(0, 4096) },
    { address: RING_ADDRESS + 4096, bytes: ring.subarray(4096) },
  ];
}

test("a terminal is found in memory with what was printed last", () => {
  const [terminal, ...others] = findTerminals(memoryWith(Buffer.from("hello")));

  expect(others).toEqual([]);
  expect(terminal).toMatchObject({ id: 3, columns: 80, rows: 24, outputStart: 0, typed: null });
  expect(terminal?.output.toString()).toBe("hello");
});

test("a ring that has gone round is put in order", () => {
  const printed = Buffer.from(Array.from({ length: 20_000 }, (_, n) => n % 251));
  const [terminal] = findTerminals(memoryWith(printed));

  expect(terminal?.output.equals(printed.subarray(-RING_BYTES))).toBe(true);
  expect(terminal?.outputStart).toBe(20_000 - RING_BYTES);
});

test("pages that are not there are zeros, and a damaged head is refused", () => {
  const memory = memoryWith(Buffer.alloc(5000, "y"));
  const [terminal] = findTerminals(memory.slice(0, 2));
  const head = memory[0]?.bytes.subarray(4096) ?? Buffer.alloc(0);

  expect(terminal?.output.subarray(4096).every((byte) => byte === 0)).toBe(true);
  head.writeBigUInt64LE(10_000_000n, 48);
  expect(() => findTerminals(memory)).toThrow("unknown way");
  expect(findTerminals([])).toEqual([]);
});

test("what was typed is in a ring of its own, which is there when something was", () => {
  const memory = memoryWith(Buffer.from("hello"));
  const head = memory[0]?.bytes.subarray(4096) ?? Buffer.alloc(0);
  const notes = Buffer.from("begin 1 2 3 0 echo hello\nend 1 10 5 0\n");
  head.write("waypoint-term-2\0", "latin1");
  expect(findTerminals(memory)[0]?.typed).toEqual([]);

  head.writeBigUInt64LE(0x6000_0000n, 56);
  head.writeUInt32LE(4096, 64);
  head.writeBigUInt64LE(0n, 72);
  head.writeBigUInt64LE(BigInt(notes.length), 80);
  const [terminal] = findTerminals([...memory, { address: 0x6000_0000, bytes: notes }]);

  expect(terminal?.typed).toMatchObject([{ command: "echo hello", exitCode: 0, outputEnd: 5 }]);
  head.write("waypoint-term-9\0", "latin1");
  expect(findTerminals(memory)).toEqual([]);
});

test("the size and the number of terminals in a memory are bounded", () => {
  const memory = memoryWith(Buffer.from("hello"));
  const head = memory[0]?.bytes.subarray(4096) ?? Buffer.alloc(0);
  head.writeUInt16LE(65_535, 20);
  head.writeUInt16LE(65_535, 22);
  expect(findTerminals(memory)).toMatchObject([{ columns: 2000, rows: 1000 }]);

  const many = { address: 0, bytes: Buffer.concat(Array.from({ length: 50 }, () => page(head))) };
  expect(findTerminals([many, ...memory])).toHaveLength(16);
});

/** A page that begins with the head of a terminal. */
function page(head: Buffer): Buffer {
  return Buffer.concat([head.subarray(0, 88)], 4096);
}
