/** A stretch of a process's memory. */
export interface MemoryStretch {
  address: number;
  bytes: Buffer;
}

/** Longest text that is read from memory; a variable may be as long as its shell likes. */
const TEXT_BYTES_MAX = 1024 * 1024;

/** Of all texts that one view hands out: many variables can share one text. */
const TEXTS_BYTES_MAX = 16 * 1024 * 1024;

/** Reads numbers and texts at addresses of a process, from what is there of its memory. */
export class MemoryView {
  readonly #stretches: readonly MemoryStretch[];
  /** Neighbours are read one after the other more often than not. */
  #last: MemoryStretch | undefined;
  #textBytesLeft: number;

  /** @param textsBytesMax  what all texts that it hands out may have together. */
  constructor(stretches: readonly MemoryStretch[], textsBytesMax: number = TEXTS_BYTES_MAX) {
    this.#textBytesLeft = textsBytesMax;
    this.#stretches = [...stretches].sort((left, right) => left.address - right.address);
  }

  /** Returns a 32-bit integer. @throws Error  there is nothing at the address. */
  integer(address: number): number {
    const { bytes, offset } = this.#locate(address, 4);
    return bytes.readInt32LE(offset);
  }

  /** Returns an address that is kept at an address. @throws Error */
  pointer(address: number): number {
    const { bytes, offset } = this.#locate(address, 8);
    return bytes.readUInt32LE(offset) + bytes.readUInt32LE(offset + 4) * 2 ** 32;
  }

  /** Returns the text that ends with a NUL. @throws Error  there is none, or was too much before. */
  text(address: number): string {
    const parts: Buffer[] = [];
    for (let at = address; at - address < TEXT_BYTES_MAX; ) {
      const { bytes, offset } = this.#locate(at, 1);
      const end = bytes.indexOf(0, offset);
      const part = bytes.subarray(offset, end === -1 ? bytes.length : end);
      this.#textBytesLeft -= part.length;
      if (this.#textBytesLeft < 0) throw new Error("the texts of the shell are too long");
      parts.push(part);
      if (end !== -1) return Buffer.concat(parts).toString("utf8");
      at += bytes.length - offset;
    }
    throw new Error("a text in the shell's memory has no end");
  }

  #locate(address: number, sizeBytes: number): { bytes: Buffer; offset: number } {
    const found = this.#find(address);
    const offset = found === undefined ? 0 : address - found.address;
    if (found === undefined || offset + sizeBytes > found.bytes.length) {
      throw new Error(`nothing is known of the shell's memory at 0x${address.toString(16)}`);
    }
    return { bytes: found.bytes, offset };
  }

  #find(address: number): MemoryStretch | undefined {
    if (this.#last !== undefined && contains(this.#last, address)) return this.#last;
    let [low, high] = [0, this.#stretches.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const stretch = this.#stretches[middle] as MemoryStretch;
      if (contains(stretch, address)) {
        this.#last = stretch;
        return stretch;
      }
      if (address < stretch.address) high = middle - 1;
      else low = middle + 1;
    }
    return undefined;
  }
}

function contains({ address: start, bytes }: MemoryStretch, address: number): boolean {
  return address >= start && address < start + bytes.length;
}
