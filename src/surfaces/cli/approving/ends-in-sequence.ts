/** An escape sequence that has begun, or a string for the terminal (a title) without its end. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: ESC begins what must be found.
const BEGUN = /\u001b(?:\[[0-?]*[ -/]*|[\]P^_X][^\u0007\u001b]*\u001b?|[ -/]*)$/;

/** Tells whether what a program has printed so far ends within a sequence or a character. */
export function endsInSequence(tail: Uint8Array): boolean {
  if (BEGUN.test(Buffer.from(tail).toString("latin1"))) return true;
  // Of a character of several bytes the first one says how many there are.
  for (let back = 1; back <= Math.min(4, tail.length); back += 1) {
    const byte = tail[tail.length - back] ?? 0;
    if (byte < 0x80) return false;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2);
  }
  return false;
}
