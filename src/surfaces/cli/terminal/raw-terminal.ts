import { PrivateModes } from "./private-modes.ts";
import { type TerminalSize, terminalSize } from "./terminal-size.ts";

const ENDING_SIGNALS = ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT"] as const;

/** Signals by number, for the exit code of a process that one of them ended. */
const SIGNAL_NUMBER = { SIGTERM: 15, SIGHUP: 1, SIGINT: 2, SIGQUIT: 3 } as const;

/**
 * This process's terminal in raw mode: every key comes as bytes, nothing is echoed.
 *
 * Put back on every path: when it is disposed of, when a signal ends this process, and when the
 * process exits for any other reason.
 */
export class RawTerminal implements Disposable {
  readonly #modes = new PrivateModes();
  readonly #restore = () => this.#putBack();
  readonly #endings = ENDING_SIGNALS.map((signal) => {
    const onSignal = () => process.exit(128 + SIGNAL_NUMBER[signal]);
    return { signal, onSignal };
  });
  #isRaw = true;

  constructor() {
    process.stdin.setRawMode(true);
    process.once("exit", this.#restore);
    for (const { signal, onSignal } of this.#endings) process.on(signal, onSignal);
  }

  /** Size of the terminal now. */
  get size(): TerminalSize {
    return terminalSize(process.stdout) ?? { columns: 80, rows: 24 };
  }

  /** Looks at bytes on their way to the terminal, to know what to put back. */
  watch(bytes: Uint8Array): void {
    this.#modes.watch(bytes);
  }

  [Symbol.dispose](): void {
    process.off("exit", this.#restore);
    for (const { signal, onSignal } of this.#endings) process.off(signal, onSignal);
    this.#putBack();
  }

  #putBack(): void {
    if (!this.#isRaw) return;
    this.#isRaw = false;
    try {
      process.stdin.setRawMode(false);
      process.stdin.pause();
      // The session's cursor may stand in the middle of a line; what follows begins on its own.
      process.stdout.write(`${this.#modes.undo()}\r\n`);
    } catch {
      // The terminal is gone (SIGHUP), so there is nothing to put back.
    }
  }
}
