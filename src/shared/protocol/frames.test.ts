import fc from "fast-check";
import { expect, test } from "vitest";
import {
  encodeFrame,
  FRAME_KIND,
  FRAME_PAYLOAD_BYTES_MAX,
  type Frame,
  FrameDecoder,
} from "./frames.ts";

const frames = fc.array(
  fc.record({
    kind: fc.constantFrom(...Object.values(FRAME_KIND)),
    payload: fc.uint8Array({ maxLength: 200 }),
  }),
  { maxLength: 12 },
);

test("frames come out as they went in, however the bytes are cut", () => {
  fc.assert(
    fc.property(frames, fc.array(fc.nat(300)), (sent, cuts) => {
      const bytes = Buffer.concat(sent.map(({ kind, payload }) => encodeFrame(kind, payload)));
      const edges = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length];
      const sorted = edges.toSorted((a, b) => a - b);
      const decoder = new FrameDecoder();
      const received: Frame[] = [];
      for (const [index, edge] of sorted.slice(1).entries()) {
        received.push(...decoder.push(bytes.subarray(sorted[index], edge)));
      }

      const plain = received.map(({ kind, payload }) => ({ kind, payload: [...payload] }));
      expect(plain).toEqual(sent.map(({ kind, payload }) => ({ kind, payload: [...payload] })));
    }),
  );
});

test("a frame is there with its last byte and not before", () => {
  const bytes = encodeFrame(FRAME_KIND.stdout, "text");
  const decoder = new FrameDecoder();

  expect(decoder.push(bytes.subarray(0, -1))).toEqual([]);
  expect(decoder.push(bytes.subarray(-1))).toHaveLength(1);
});

test("a length beyond the limit is refused before anything is gathered", () => {
  const header = Buffer.alloc(5);
  header.writeUInt32LE(FRAME_PAYLOAD_BYTES_MAX + 1, 0);

  expect(() => new FrameDecoder().push(header)).toThrow(RangeError);
  expect(() => encodeFrame(FRAME_KIND.stdout, new Uint8Array(FRAME_PAYLOAD_BYTES_MAX + 1))).toThrow(
    RangeError,
  );
});
