import { type Deferred, deferred } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";

/** Output that waits for its reader; what is beyond holds the command up. */
export const PIPE_BYTES_MAX = 1024 * 1024;

/**
 * One stream of output on its way from a command to a reader.
 *
 * A reader that is slow slows the command down. While nobody reads, its beginning is kept and the rest
 * goes by, so that a command whose other stream is read does not stand still.
 */
export class OutputPipe implements AsyncIterable<Uint8Array> {
  readonly #onRead: () => void;
  readonly #pieces: Uint8Array[] = [];
  #bytes = 0;
  #reader: "none" | "reads" | "left" = "none";
  #isCut = false;
  #end: { error?: unknown } | undefined;
  #wanted: Deferred<void> | undefined;
  #room: Deferred<void> | undefined;

  /** @param onRead  told when somebody begins to read */
  constructor(onRead: () => void) {
    this.#onRead = onRead;
  }

  /** Takes bytes; resolves when more may come. */
  async put(bytes: Uint8Array): Promise<void> {
    if (this.#reader === "left" || this.#isCut) return;
    if (this.#reader === "none" && this.#bytes + bytes.length > PIPE_BYTES_MAX) {
      this.#isCut = true;
      return;
    }
    this.#pieces.push(bytes);
    this.#bytes += bytes.length;
    this.#wanted?.resolve();
    if (this.#reader === "none" || this.#bytes < PIPE_BYTES_MAX) return;
    this.#room = deferred();
    await this.#room.promise;
  }

  /** Says that no more comes, and why where that is an error. */
  end(end: { error?: unknown } = {}): void {
    this.#end ??= end;
    this.#wanted?.resolve();
  }

  /** Keeps nothing more: nobody is to read it. */
  discard(): void {
    this.#reader = "left";
    this.#pieces.length = 0;
    this.#room?.resolve();
  }

  /** @throws USAGE_INVALID  it was read already, or too late: some of it has gone by. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    if (this.#reader !== "none") throw invalid("The output of a command is read once.");
    this.#reader = "reads";
    this.#onRead();
    try {
      for (;;) {
        const piece = this.#pieces.shift();
        if (piece !== undefined) {
          this.#bytes -= piece.length;
          if (this.#bytes < PIPE_BYTES_MAX) this.#room?.resolve();
          yield piece;
        } else if (this.#isCut) {
          throw invalid("The output was read too late: what was beyond its first MiB is gone.");
        } else if (this.#end !== undefined) {
          if ("error" in this.#end) throw this.#end.error;
          return;
        } else {
          this.#wanted = deferred();
          await this.#wanted.promise;
        }
      }
    } finally {
      this.discard();
    }
  }
}

function invalid(message: string): WaypointError {
  return new WaypointError("USAGE_INVALID", message, {
    hint: "Read both streams at once, or gather the output with `exec`.",
  });
}
