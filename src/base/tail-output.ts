const CAPACITY_BYTES_MIN = 1024;

/**
 * Keeps the last bytes of a stream, and knows how many there were.
 *
 * In one ring that is written over, not in pieces that are joined: a stream of 100 MB would leave
 * as much garbage behind, faster than it is collected.
 */
export class TailOutput {
  readonly #bytesMax: number;
  #ring = new Uint8Array(0);
  /** Where the next byte goes; until the ring has its full size, what is kept lies before it. */
  #end = 0;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** How many bytes there were. */
  get bytes(): number {
    return this.#bytes;
  }

  add(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    let rest = bytes.subarray(Math.max(0, bytes.length - this.#bytesMax));
    this.#makeRoom(rest.length);
    while (rest.length > 0) {
      if (this.#end === this.#ring.length) this.#end = 0;
      const part = rest.subarray(0, this.#ring.length - this.#end);
      this.#ring.set(part, this.#end);
      this.#end += part.length;
      rest = rest.subarray(part.length);
    }
  }

  /** Returns the end as text; a character that was cut is left out. */
  text(): string {
    const isCut = this.#bytes > this.#bytesMax;
    const newest = this.#ring.subarray(0, this.#end);
    const tail = isCut ? Buffer.concat([this.#ring.subarray(this.#end), newest]) : newest;
    let start = 0;
    while (isCut && start < 4 && ((tail[start] ?? 0) & 0xc0) === 0x80) start += 1;
    return Buffer.from(tail.subarray(start)).toString("utf8");
  }

  #makeRoom(byteCount: number): void {
    const capacity = this.#ring.length;
    const wanted = Math.min(this.#bytesMax, this.#end + byteCount);
    if (wanted <= capacity || capacity === this.#bytesMax) return;
    const grown = Math.min(this.#bytesMax, Math.max(CAPACITY_BYTES_MIN, wanted, 2 * capacity));
    const ring = new Uint8Array(grown);
    ring.set(this.#ring.subarray(0, this.#end));
    this.#ring = ring;
  }
}
