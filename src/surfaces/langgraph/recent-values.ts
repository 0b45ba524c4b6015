import type { EncodedValue } from "./value-store.ts";

/** A shorter one is encoded again sooner than found. */
const BYTES_MIN = 4 * 1024;
const BYTES_MAX = 1024 * 1024;
const VALUES_MAX = 8;

/** The long values encoded last: what a task has written comes again as a channel's value. */
export class RecentValues {
  #values: { type: string; bytes: Uint8Array; encoded: EncodedValue }[] = [];

  /** Returns what the same bytes have become. */
  get(type: string, bytes: Uint8Array): EncodedValue | undefined {
    const isSame = (each: { type: string; bytes: Uint8Array }) =>
      each.type === type && Buffer.compare(each.bytes, bytes) === 0;
    return bytes.length < BYTES_MIN ? undefined : this.#values.find(isSame)?.encoded;
  }

  /** @param bytes  not changed by anybody from now on */
  add(type: string, bytes: Uint8Array, encoded: EncodedValue): EncodedValue {
    if (bytes.length < BYTES_MIN || bytes.length > BYTES_MAX) return encoded;
    this.#values = [...this.#values.slice(1 - VALUES_MAX), { type, bytes, encoded }];
    return encoded;
  }
}
