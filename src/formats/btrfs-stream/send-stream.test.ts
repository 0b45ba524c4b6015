import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { COMMAND, type SendCommand, SendStreamReader } from "./send-stream.ts";

const HEADER = Buffer.concat([Buffer.from("btrfs-stream\0"), Buffer.from([1, 0, 0, 0])]);

function attribute(type: number, value: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16LE(type, 0);
  head.writeUInt16LE(value.length, 2);
  return Buffer.concat([head, value]);
}

function command(kind: number, ...attributes: Buffer[]): Buffer {
  const body = Buffer.concat(attributes);
  const head = Buffer.alloc(10);
  head.writeUInt32LE(body.length, 0);
  head.writeUInt16LE(kind, 4);
  return Buffer.concat([head, body]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

const STREAM = Buffer.concat([
  HEADER,
  command(COMMAND.mkfile, attribute(15, Buffer.from("o257-7-0")), attribute(3, number(2 ** 40))),
  command(
    COMMAND.rename,
    attribute(15, Buffer.from("o257-7-0")),
    attribute(16, Buffer.from([0x61, 0x0a, 0xff])),
  ),
  command(
    COMMAND.updateExtent,
    attribute(15, Buffer.from("a")),
    attribute(18, number(4096)),
    attribute(4, number(2 ** 35)),
  ),
]);

function readIn(chunks: readonly Buffer[]): SendCommand[] {
  const reader = new SendStreamReader();
  const commands = chunks.flatMap((chunk) => reader.push(chunk));
  reader.end();
  return commands;
}

describe("a send stream", () => {
  test("is read into commands, names byte by byte", () => {
    expect(readIn([STREAM])).toMatchObject([
      { kind: COMMAND.mkfile, path: "o257-7-0", inode: 2 ** 40 },
      { kind: COMMAND.rename, path: "o257-7-0", pathTo: "a\n\xff" },
      { kind: COMMAND.updateExtent, path: "a", offset: 4096, size: 2 ** 35 },
    ]);
  });

  test("is the same however its chunks fall", () => {
    const cuts = fc.array(fc.nat({ max: STREAM.length }), { maxLength: 8 });
    fc.assert(
      fc.property(cuts, (places) => {
        const edges = [0, ...places.toSorted((one, other) => one - other), STREAM.length];
        const chunks = edges.slice(1).map((end, index) => STREAM.subarray(edges[index], end));

        expect(readIn(chunks)).toEqual(readIn([STREAM]));
      }),
    );
  });

  test("that is cut off or none at all is refused", () => {
    expect(() => readIn([STREAM.subarray(0, STREAM.length - 1)])).toThrow("cut off");
    expect(() => readIn([STREAM.subarray(0, 5)])).toThrow("cut off");
    expect(() => readIn([Buffer.alloc(20)])).toThrow("no send stream");
  });
});
