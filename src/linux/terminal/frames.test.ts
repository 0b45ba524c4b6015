import { expect, test } from "vitest";
import {
  encodeFrame,
  encodeNumbers,
  encodeOffsets,
  FRAME_HEADER_BYTES,
  FrameDecoder,
  FrameKind,
} from "./frames.ts";

test("frames are found however the bytes arrive", () => {
  const bytes = Buffer.concat([
    encodeFrame(FrameKind.hello, 0, encodeNumbers(1)),
    encodeFrame(FrameKind.resize, 7),
    encodeFrame(FrameKind.write, 8, Buffer.from("text")),
  ]);

  const decoder = new FrameDecoder();
  const frames = [...bytes].flatMap((byte) => decoder.push(Buffer.from([byte])));

  expect(frames.map(({ kind, id, payload }) => [kind, id, payload.toString()])).toEqual([
    [1, 0, "\u0001\0\0\0"],
    [11, 7, ""],
    [9, 8, "text"],
  ]);
  expect(new FrameDecoder().push(bytes)).toHaveLength(3);
});

test("a header has the documented layout", () => {
  const bytes = encodeFrame(FrameKind.read, 0x01020304, encodeOffsets(5n, 6n));

  expect(bytes.subarray(0, FRAME_HEADER_BYTES).toString("hex")).toBe("100000000800000004030201");
  expect(bytes.readBigUInt64LE(12)).toBe(5n);
});

test("a frame that claims to be too large is refused", () => {
  const bytes = encodeFrame(FrameKind.write, 1);
  bytes.writeUInt32LE(65_537, 0);

  expect(() => new FrameDecoder().push(bytes)).toThrow(RangeError);
});
