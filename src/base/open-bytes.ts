import { closeSync, openSync, readSync } from "node:fs";

/** A file that is open to be read in parts. */
export class OpenBytes implements Disposable {
  readonly #fd: number;

  constructor(filePath: string | Buffer) {
    this.#fd = openSync(filePath, "r");
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }

  /** Reads what there is; nothing where the offset is none. */
  readonly readAt = (offset: number, count: number): Buffer => {
    if (count <= 0 || !Number.isSafeInteger(offset) || offset < 0) return Buffer.alloc(0);
    const bytes = Buffer.alloc(count);
    return bytes.subarray(0, readSync(this.#fd, bytes, 0, count, offset));
  };
}
