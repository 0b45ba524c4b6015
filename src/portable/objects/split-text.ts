/** No part is shorter, but the last. */
const PART_BYTES_MIN = 4 * 1024;
/** No part is longer. */
const PART_BYTES_MAX = 32 * 1024;
/** A part ends where this many bits of the rolling hash are zero: after 8 KiB more, on average. */
const END_BITS = 13;
const END_MASK = ((1 << END_BITS) - 1) << (32 - END_BITS);

/** A number for each byte, mixed so that near bytes have nothing in common. */
const GEAR = Uint32Array.from({ length: 256 }, (_, byte) => mix(byte + 1));

/**
 * Yields bytes in parts whose borders depend on what stands right before them: what is inserted
 * changes the parts around it, and the others stay what they were.
 */
export function* splitBytes(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; ) {
    const end = findEnd(bytes, start);
    yield bytes.subarray(start, end);
    start = end;
  }
}

function findEnd(bytes: Uint8Array, start: number): number {
  const last = Math.min(bytes.length, start + PART_BYTES_MAX);
  let hash = 0;
  // A byte leaves the hash after 32 more: the border depends on those alone.
  for (let at = Math.min(last, start + PART_BYTES_MIN); at < last; at += 1) {
    hash = ((hash << 1) + (GEAR[bytes[at] as number] as number)) | 0;
    if ((hash & END_MASK) === 0) return at + 1;
  }
  return last;
}

/** The finalizer of MurmurHash3. */
function mix(value: number): number {
  let mixed = Math.imul(value, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
