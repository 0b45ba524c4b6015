import { setTimeout as delay } from "node:timers/promises";
import type { TerminalState } from "../../linux/terminal/index.ts";
import { hasCode } from "../../shared/errors/index.ts";
import type { LiveInstance, TerminalSize } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";

/** Within this time a program that owns the screen begins to draw for a new size. */
const DRAWING_BEGINS_MS = 1_000;
/** A program that has printed nothing for so long has drawn for the new size. */
const DRAWN_MS = 50;
/** Some programs never stop to print, such as a clock. */
const DRAWING_MS_MAX = 2_000;

/**
 * Keeps a session's terminal at the size that all attached clients can show.
 *
 * Many programs throw away what is typed while they learn of a new size (less does, in most cases):
 * {@link fit} ends when the program has drawn for it, so that keys can wait for that.
 */
export class TerminalFit {
  readonly #sessionId: string;
  readonly #engine: Engine;
  #size: TerminalSize;
  #onPrinted: (() => void) | undefined;
  readonly #leaving = new AbortController();
  #hasLeft = false;

  constructor(sessionId: string, size: TerminalSize, engine: Engine) {
    this.#sessionId = sessionId;
    this.#size = size;
    this.#engine = engine;
  }

  /** What the client's terminal can show. */
  get size(): TerminalSize {
    return this.#size;
  }

  /** Takes part in the size that all can show, and returns that. */
  join(): TerminalSize {
    // A fit of an instance that was put back meanwhile may end after the client has left.
    if (this.#hasLeft) return this.#size;
    return this.#engine.live.commonSize(this.#sessionId, this, this.#size) ?? this.#size;
  }

  /** The client leaves: {@link fit} waits for no program any more. */
  hurry(): void {
    this.#leaving.abort();
  }

  /** Those who stay attached may have had to make do with less than they can show. */
  async leave(): Promise<void> {
    this.#hasLeft = true;
    const size = this.#engine.live.commonSize(this.#sessionId, this, null);
    const live = this.#engine.live.get(this.#sessionId);
    if (size !== null && live !== undefined) await this.#resize(live, size);
  }

  /** The client's terminal has another size; `live` is `undefined` while no instance is shown. */
  async change(size: TerminalSize, live: LiveInstance | undefined): Promise<void> {
    this.#size = size;
    if (live !== undefined) await this.#resize(live, this.join());
  }

  /**
   * Gives the terminal the size that all can show. A full-screen program then draws itself anew;
   * where the size stays, it is changed for a moment, so that it does so, too.
   */
  async fit(live: LiveInstance, terminal: TerminalState, isFullScreen: boolean): Promise<void> {
    const { columns, rows } = this.join();
    if (!isFullScreen) return await this.#resize(live, { columns, rows });
    const hasSize = terminal.cols === columns && terminal.rows === rows;
    const other = { columns, rows: rows > 1 ? rows - 1 : rows + 1 };
    const draws = !hasSize || (await this.#redraw(live, other, DRAWING_BEGINS_MS));
    // What did not draw for one size will not for the next one.
    await this.#redraw(live, this.join(), draws ? DRAWING_BEGINS_MS : DRAWN_MS);
  }

  /** Notes that the terminal has printed something. */
  printed(): void {
    this.#onPrinted?.();
  }

  /** @returns whether the program has drawn something for `size`. */
  async #redraw(live: LiveInstance, size: TerminalSize, beginsMs: number): Promise<boolean> {
    const drawn = this.#drawn(beginsMs);
    await this.#resize(live, size);
    return await drawn;
  }

  /** Waits until something was printed and then nothing more for a moment. */
  async #drawn(beginsMs: number): Promise<boolean> {
    const endsAtMs = performance.now() + DRAWING_MS_MAX;
    const begins = await this.#printsWithin(beginsMs);
    let prints = begins;
    while (prints && performance.now() < endsAtMs) prints = await this.#printsWithin(DRAWN_MS);
    this.#onPrinted = undefined;
    return begins;
  }

  async #printsWithin(ms: number): Promise<boolean> {
    const silence = new AbortController();
    const printed = new Promise<boolean>((resolve) => {
      this.#onPrinted = () => resolve(true);
    });
    const signal = AbortSignal.any([silence.signal, this.#leaving.signal]);
    const isSilent = delay(ms, false, { signal }).catch(() => false);
    const prints = await Promise.race([printed, isSilent]);
    silence.abort();
    return prints;
  }

  async #resize(live: LiveInstance, { columns, rows }: TerminalSize): Promise<void> {
    try {
      await live.link.resize(live.terminalId, columns, rows);
    } catch (error) {
      // A terminal that is gone needs no size; whoever reads from it learns of the end.
      const isCurrent = this.#engine.live.get(live.sessionId)?.instanceId === live.instanceId;
      if (isCurrent && !hasCode(error, "SESSION_ENDED")) throw error;
    }
  }
}
