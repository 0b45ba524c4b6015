import type { Frame } from "./frames.ts";

/** Above this, frames are no longer taken from the connection. */
const QUEUED_BYTES_MAX = 256 * 1024;

/** A bounded queue of frames between a connection and one consumer. */
export class Feed {
  #queue: Frame[] = [];
  #queuedBytes = 0;
  #isEnded = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;
  readonly #onRoom: () => void;

  /** `onRoom` is called when a full queue has room again. */
  constructor(onRoom: () => void) {
    this.#onRoom = onRoom;
  }

  get isFull(): boolean {
    return this.#queuedBytes >= QUEUED_BYTES_MAX;
  }

  get isOver(): boolean {
    return this.#isEnded || this.#failure !== undefined;
  }

  push(frame: Frame): void {
    this.#queue.push(frame);
    this.#queuedBytes += frame.payload.length;
    this.#wakeConsumer();
  }

  /** No more frames will come. */
  end(): void {
    this.#isEnded = true;
    this.#wakeConsumer();
  }

  /** The consumer gets what is queued, then the failure. */
  fail(error: Error): void {
    if (this.isOver) return;
    this.#failure = error;
    this.#wakeConsumer();
  }

  /** Returns the next frame, or `undefined` at the end. */
  async next(): Promise<Frame | undefined> {
    for (;;) {
      const wasFull = this.isFull;
      const frame = this.#queue.shift();
      if (frame !== undefined) {
        this.#queuedBytes -= frame.payload.length;
        if (wasFull && !this.isFull) this.#onRoom();
        return frame;
      }
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#isEnded) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #wakeConsumer(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
