/**
 * What a terminal sends by itself: answers about its cursor, its kind and its colours, and that it
 * has got or lost the focus.
 */
const REPORTS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals talk in them.
  /\u001b\[[?>=]?[\d;]*[Rcnty]|\u001b\[[IO]|\u001b[\]P][^\u0007\u001b]*(\u0007|\u001b\\)/g;

/** Tells whether there is a key among the bytes that came from a terminal. */
export function hasKeys(bytes: Uint8Array): boolean {
  return Buffer.from(bytes).toString("latin1").replaceAll(REPORTS, "") !== "";
}

/** When somebody last typed at an attached terminal of each session. */
export class Typing {
  readonly #lastKeyAtMs = new Map<string, number>();

  note(sessionId: string, bytes: Uint8Array): void {
    if (hasKeys(bytes)) this.#lastKeyAtMs.set(sessionId, Date.now());
  }

  /** Returns the instant, in milliseconds since the epoch, or `null` where nobody has. */
  lastKeyAtMs(sessionId: string): number | null {
    return this.#lastKeyAtMs.get(sessionId) ?? null;
  }

  forget(sessionId: string): void {
    this.#lastKeyAtMs.delete(sessionId);
  }
}
