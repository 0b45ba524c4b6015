import type { Writable } from "node:stream";

/**
 * Resolves when `stream` takes more after a write that it wanted to be the last for now, or when it
 * is closed and takes nothing any more.
 */
export function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off("drain", done).off("close", done).off("error", done);
      resolve();
    };
    stream.on("drain", done).on("close", done).on("error", done);
  });
}
