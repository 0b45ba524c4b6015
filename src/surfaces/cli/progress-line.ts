import type { Progress } from "../../shared/protocol/index.ts";
import { formatSize } from "./text/quantities.ts";

/** What is over sooner needs no line. */
const SHOWN_AFTER_MS = 1_000;
const REDRAWN_EVERY_MS = 250;
const ERASE = "\r\u001b[K";

/** Where the line is drawn. */
export interface ProgressTerminal {
  columns: number;
  write(text: string): void;
}

/** The one that may be drawn: whatever is printed meanwhile has it erased first. */
let current: ProgressLine | null = null;

/** Makes room for a line that is about to be printed. */
export function eraseProgress(): void {
  current?.erase();
}

/** Draws no more: what is printed from now on may end in the middle of a line. */
export function endProgress(): void {
  current?.[Symbol.dispose]();
}

/** One line that says what is under way, once that lasts; disposing of it erases it. */
export class ProgressLine implements Disposable {
  readonly #what: string;
  readonly #terminal: ProgressTerminal | null;
  readonly #startedAtMs = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #progress: Progress | null = null;
  #isDrawn = false;

  /** @param terminal  `null` where no person looks: nothing is drawn. */
  constructor(what: string, terminal: ProgressTerminal | null) {
    this.#what = what;
    this.#terminal = terminal;
    if (terminal === null) return;
    current = this;
    this.#timer = setInterval(() => this.#draw(), REDRAWN_EVERY_MS);
    this.#timer.unref();
  }

  update(progress: Progress): void {
    this.#progress = progress;
  }

  /** Makes room for what is printed meanwhile. */
  erase(): void {
    if (this.#isDrawn) this.#terminal?.write(ERASE);
    this.#isDrawn = false;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.erase();
    if (current === this) current = null;
  }

  #draw(): void {
    const elapsedMs = performance.now() - this.#startedAtMs;
    if (this.#terminal === null || elapsedMs < SHOWN_AFTER_MS) return;
    const line = tellProgress(this.#what, this.#progress, elapsedMs);
    // One that is wrapped could not be erased.
    this.#terminal.write(`${ERASE}${line.slice(0, Math.max(0, this.#terminal.columns - 1))}`);
    this.#isDrawn = true;
  }
}

/** Returns what is under way, how far it has come, and since when: `fork: 12 of 30 forks, 3 s`. */
export function tellProgress(what: string, progress: Progress | null, elapsedMs: number): string {
  const elapsed = `${Math.floor(elapsedMs / 1000)} s`;
  if (progress === null) return `${what}: ${elapsed}`;
  const { done, total, unit } = progress;
  const amount = (count: number) => (unit === "bytes" ? formatSize(count) : String(count));
  const of = total === null ? "" : ` of ${amount(total)}`;
  return `${what}: ${amount(done)}${of}${unit === "bytes" ? "" : ` ${unit}`}, ${elapsed}`;
}
