/** Keeps the first bytes of a stream, and knows whether there were more. */
export class BoundedOutput {
  readonly #chunks: Uint8Array[] = [];
  readonly #bytesMax: number;
  #bytes = 0;
  truncated = false;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(bytes: Uint8Array): void {
    const room = this.#bytesMax - this.#bytes;
    if (bytes.length > room) this.truncated = true;
    if (room <= 0) return;
    const kept = bytes.subarray(0, room);
    this.#chunks.push(Uint8Array.from(kept));
    this.#bytes += kept.length;
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }
}
