import { DETACH_KEYS_DEFAULT, describeDetachKeys } from "../terminal/detach-keys.ts";

/**
 * Returns the keys that approve and deny while attached, as a user writes detach keys: behind the same
 * prefix as those. A single key that detaches has none; the answers have the usual prefix then.
 */
export function answerChords(detachKeys: string): { approve: string; deny: string } {
  const keys = detachKeys.split(",");
  const last = keys.at(-1);
  const prefix = keys.length > 1 ? keys.slice(0, -1) : DETACH_KEYS_DEFAULT.split(",").slice(0, 1);
  const chordOf = (...letters: string[]) =>
    [...prefix, letters.find((letter) => letter !== last)].join(",");
  return { approve: chordOf("y", "a"), deny: chordOf("n", "x") };
}

/** Returns the keys as a person reads them: "Ctrl-] y". */
export function describeChord(chord: string): string {
  return describeDetachKeys(chord);
}
