/** How long parts are. */
export interface PartSizes {
  /** No part is shorter, but the last. */
  bytesMin: number;
  /** No part is longer. */
  bytesMax: number;
  /** A part ends where so many bits of the rolling hash are zero: after 2^endBits more, on average. */
  endBits: number;
}

/** Parts of 12 KiB, on average. */
export const COARSE_PARTS: PartSizes = { bytesMin: 4 * 1024, bytesMax: 32 * 1024, endBits: 13 };
/** Parts of 4 KiB: for what grows by less than that, again and again. */
export const FINE_PARTS: PartSizes = { bytesMin: 2 * 1024, bytesMax: 12 * 1024, endBits: 11 };

/** A number for each byte, mixed so that near bytes have nothing in common. */
const GEAR = Uint32Array.from({ length: 256 }, (_, byte) => mix(byte + 1));

/**
 * Yields bytes in parts whose borders depend on what stands right before them: what is inserted
 * changes the parts around it, and the others stay what they were.
 */
export function* splitBytes(
  bytes: Uint8Array,
  sizes: PartSizes = COARSE_PARTS,
): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; ) {
    const end = findEnd(bytes, start, sizes);
    yield bytes.subarray(start, end);
    start = end;
  }
}

function findEnd(
  bytes: Uint8Array,
  start: number,
  { bytesMin, bytesMax, endBits }: PartSizes,
): number {
  const last = Math.min(bytes.length, start + bytesMax);
  const endMask = ((1 << endBits) - 1) << (32 - endBits);
  let hash = 0;
  // A byte leaves the hash after 32 more: the border depends on those alone.
  for (let at = Math.min(last, start + bytesMin); at < last; at += 1) {
    hash = ((hash << 1) + (GEAR[bytes[at] as number] as number)) | 0;
    if ((hash & endMask) === 0) return at + 1;
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
