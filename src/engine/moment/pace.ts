import { setImmediate as nextTurn } from "node:timers/promises";

/** How long the event loop may be kept from everything else that the daemon does. */
const SLICE_MS = 4;

/** Lets a long computation stand back for the rest of the daemon, and end when it is given up. */
export class Pace {
  readonly #signal: AbortSignal;
  #sliceEndsAtMs = performance.now() + SLICE_MS;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Stands back when it is time. Rejects when the work was given up. */
  async yieldOften(): Promise<void> {
    if (performance.now() < this.#sliceEndsAtMs) return;
    await nextTurn();
    this.#signal.throwIfAborted();
    this.#sliceEndsAtMs = performance.now() + SLICE_MS;
  }
}
