import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";

/** A shell that has printed nothing for this long has come to its prompt, as a rule. */
const PRINTED_MS = 100;
/** On a busy machine it may wait for its turn with the prompt printed: each look waits twice as long. */
const LOOK_MS_MAX = 8_000;
const LINE_ENDS = [0x0d, 0x0a];

/**
 * Notices the end of what is typed at an attached terminal.
 *
 * A shell prints its prompt when a command has ended, so that it is asked only after it has printed
 * something, and only after somebody has typed the end of a line.
 */
export class TypedLines implements Disposable {
  readonly #live: LiveInstance;
  readonly #engine: Engine;
  #isOpen = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(live: LiveInstance, engine: Engine) {
    this.#live = live;
    this.#engine = engine;
  }

  /** Takes what was typed. */
  typed(bytes: Uint8Array): void {
    if (LINE_ENDS.some((end) => bytes.includes(end))) this.#isOpen = true;
  }

  /** Notes that the terminal has printed something. */
  printed(): void {
    if (!this.#isOpen) return;
    this.#lookIn(PRINTED_MS);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#isOpen = false;
  }

  #lookIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(ms), ms);
  }

  async #look(afterMs: number): Promise<void> {
    const { link, terminalId, sessionId: session, instanceId: instance } = this.#live;
    const timer = this.#timer;
    try {
      const { terminals } = await link.list();
      const isAtPrompt = terminals.find(({ id }) => id === terminalId)?.isAtPrompt === true;
      if (!this.#isOpen || timer !== this.#timer) return;
      if (!isAtPrompt) {
        if (afterMs < LOOK_MS_MAX) this.#lookIn(2 * afterMs);
        return;
      }
      this.#isOpen = false;
      this.#engine.automatic.commandEnded({ session, instance, liveShellLine: null });
    } catch {
      // The session has ended, or is just being restored: nothing that was typed ends any more.
    }
  }
}
