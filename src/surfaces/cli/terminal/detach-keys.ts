import { WaypointError } from "../../../shared/errors/index.ts";

/** The chord that detaches unless a user names another one. */
export const DETACH_KEYS_DEFAULT = "ctrl-],d";

const ESC = 0x1b;

/** One key: every way in which a terminal may send it. */
interface Key {
  /** The byte that an ordinary terminal sends. */
  byte: number;
  /** Code point and modifiers (1 + 4 for control) as enhanced keyboards report them. */
  codePoint: number;
  modifiers: number;
}

/** What became of some typed bytes. */
export interface DetachResult {
  /** Bytes that the session gets. */
  forward: Uint8Array;
  isDetached: boolean;
  /** Further chords that were typed, in order. */
  typed: readonly Chord[];
}

/** Further keys that mean something for a time. */
export interface Chord {
  keys: readonly Key[];
}

/**
 * Watches typed bytes for a chord of keys that detaches.
 *
 * The first key is held back until the next one decides: the rest of the chord detaches, the first
 * key again sends it once, anything else sends both. Programs can switch a terminal to enhanced
 * key reports (kitty's protocol, xterm's modifyOtherKeys), in which Ctrl-] is no byte any more but
 * a sequence; the chord is found in these as well, or a user could not leave such a program.
 */
export class DetachKeys {
  readonly #keys: readonly Key[];
  /** Tokens of the chord that were typed and are held back. */
  #held: Uint8Array[] = [];

  constructor(keys: readonly Key[]) {
    this.#keys = keys;
  }

  /** A chord has begun, and is not whole. */
  get isBegun(): boolean {
    return this.#held.length > 0;
  }

  /**
   * Takes typed bytes; a sequence is never split by a terminal, so each chunk stands alone.
   *
   * @param further  chords that mean something now, besides the one that detaches
   */
  push(bytes: Uint8Array, further: readonly Chord[] = []): DetachResult {
    const forward: Uint8Array[] = [];
    const typed: Chord[] = [];
    const detaches = { keys: this.#keys };
    for (const token of splitKeys(bytes)) {
      const chord = this.#take(token, forward, [detaches, ...further]);
      if (chord === detaches) return { forward: Buffer.concat(forward), isDetached: true, typed };
      if (chord !== null) typed.push(chord);
    }
    return { forward: Buffer.concat(forward), isDetached: false, typed };
  }

  #take(token: Uint8Array, forward: Uint8Array[], chords: readonly Chord[]): Chord | null {
    const isFirst = chords.some((chord) => begins(chord, [token]));
    // Nearly all that is typed or pasted is no chord's.
    if (this.#held.length === 0 && !isFirst) {
      forward.push(token);
      return null;
    }
    const next = [...this.#held, token];
    const begun = chords.filter((chord) => begins(chord, next));
    if (begun.length > 0) {
      const whole = begun.find(({ keys }) => keys.length === next.length) ?? null;
      this.#held = whole === null ? next : [];
      return whole;
    }
    // Enhanced keyboards also report that a key was let go; that decides nothing.
    if (this.#held.length > 0 && isRelease(token)) return null;
    const isFirstAgain = this.#held.length === 1 && isFirst && this.#isSame(token);
    if (!isFirstAgain) forward.push(...this.#held);
    this.#held = [];
    if (!isFirstAgain && isFirst) this.#held.push(token);
    else forward.push(token);
    return null;
  }

  #isSame(token: Uint8Array): boolean {
    const [held] = this.#held;
    return held !== undefined && Buffer.from(held).equals(token);
  }
}

/**
 * Reads keys as a user writes them: "ctrl-],d", "ctrl-a", "q".
 *
 * @throws USAGE_INVALID  it names no key.
 */
export function parseDetachKeys(text: string): Key[] {
  return text.split(",").map((word) => {
    const control = /^ctrl-([a-z[\]\\^_@])$/i.exec(word)?.[1]?.toLowerCase();
    if (control !== undefined) {
      const codePoint = control.charCodeAt(0);
      return { byte: codePoint & 0x1f, codePoint, modifiers: 5 };
    }
    if (/^[!-~]$/.test(word)) {
      return { byte: word.charCodeAt(0), codePoint: word.charCodeAt(0), modifiers: 1 };
    }
    throw new WaypointError("USAGE_INVALID", `${JSON.stringify(word)} is no key to detach with.`, {
      hint: "Write keys as ctrl-X or as one character, with commas: ctrl-],d.",
    });
  });
}

/** Returns the keys as a person reads them: "Ctrl-] d". */
export function describeDetachKeys(text: string): string {
  return text.replaceAll("ctrl-", "Ctrl-").replaceAll(",", " ");
}

/** Cuts typed bytes into single bytes and whole CSI sequences. */
function* splitKeys(bytes: Uint8Array): Generator<Uint8Array> {
  let start = 0;
  while (start < bytes.length) {
    const end = start + keyLength(bytes, start);
    yield bytes.subarray(start, end);
    start = end;
  }
}

function keyLength(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== ESC || bytes[start + 1] !== 0x5b) return 1;
  for (let end = start + 2; end < bytes.length; end += 1) {
    const byte = bytes[end] ?? 0;
    if (byte >= 0x40 && byte <= 0x7e) return end + 1 - start;
  }
  return 1;
}

/** A key as kitty (CSI code;modifiers:event u) or xterm (CSI 27;modifiers;code ~) reports it. */
function parseReport(token: Uint8Array) {
  if (token[0] !== ESC || token.length > 32) return null;
  const text = Buffer.from(token).toString("latin1", 1);
  const kitty = /^\[(\d+)(?::\d*)*(?:;(\d*)(?::(\d+))?)?(?:;[\d:]*)?u$/.exec(text);
  if (kitty !== null) return toReport(kitty[1], kitty[2], kitty[3]);
  const xterm = /^\[27;(\d+);(\d+)~$/.exec(text);
  return xterm === null ? null : toReport(xterm[2], xterm[1], undefined);
}

function toReport(codePoint = "", modifiers = "", event = "") {
  const heldKeys = modifiers === "" ? 1 : Number(modifiers);
  // Caps lock (64) and num lock (128) are reported as modifiers; they do not change the chord.
  return {
    codePoint: Number(codePoint),
    modifiers: ((heldKeys - 1) & 0x3f) + 1,
    isRelease: event === "3",
  };
}

function begins({ keys }: Chord, tokens: readonly Uint8Array[]): boolean {
  return tokens.every((token, at) => {
    const key = keys[at];
    return key !== undefined && matches(token, key);
  });
}

function matches(token: Uint8Array, key: Key): boolean {
  if (token.length === 1) return token[0] === key.byte;
  const report = parseReport(token);
  if (report === null || report.isRelease) return false;
  return report.codePoint === key.codePoint && report.modifiers === key.modifiers;
}

function isRelease(token: Uint8Array): boolean {
  return token.length > 1 && parseReport(token)?.isRelease === true;
}
