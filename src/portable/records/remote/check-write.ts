import { WaypointError } from "../../../shared/errors/index.ts";
import {
  type Change,
  THREAD_BYTES_MAX,
  VALUE_BYTES_MAX,
  WRITE_BYTES_MAX,
} from "../thread-records.ts";

/**
 * Returns the bytes of a thread's name.
 *
 * @throws USAGE_INVALID  it is too long, or half a character of UTF-16.
 */
export function threadBytes(name: string): Buffer {
  const bytes = Buffer.from(name);
  // Half a character becomes another one on the way, and two names the same.
  if (bytes.length <= THREAD_BYTES_MAX && bytes.toString() === name) return bytes;
  throw new WaypointError("USAGE_INVALID", "The name of a graph's thread cannot be kept.", {
    hint: `A thread_id is text of at most ${THREAD_BYTES_MAX} bytes.`,
    detail: { bytes: bytes.length, bytesMax: THREAD_BYTES_MAX },
  });
}

/** @throws USAGE_INVALID  a change is more than the contract allows. */
export function checkChanges(changes: readonly Change[]): void {
  let total = 0;
  for (const { key, value } of changes) {
    const bytes = value?.length ?? 0;
    total += bytes + key.length;
    if (!/^[ -~]{1,1024}$/.test(key) || bytes > VALUE_BYTES_MAX || total > WRITE_BYTES_MAX) {
      throw new WaypointError("USAGE_INVALID", "A record of a graph's thread cannot be kept.", {
        detail: { key: key.slice(0, 100), bytes, bytesMax: VALUE_BYTES_MAX, total },
      });
    }
  }
}
