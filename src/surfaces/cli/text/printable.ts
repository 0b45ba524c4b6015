/**
 * Characters that a terminal obeys or that turn the reading direction: C0 and C1 controls, DEL,
 * line and paragraph separators, bidirectional overrides and isolates.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what must be found.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\u200e\u200f]/gu;

/**
 * Returns `text` on one line without anything that a terminal would obey.
 *
 * Names, intents and command lines come out of sessions; printed as they are they could rewrite
 * what the user sees or answers. Controls become their visible pictures (␛), the rest `�`.
 */
export function printable(text: string): string {
  return text.replace(UNSAFE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code === 0x7f) return "␡";
    return code < 0x20 ? String.fromCodePoint(0x2400 + code) : "�";
  });
}

/** Like {@link printable} for text of several lines: line breaks and tabs are kept. */
export function printableLines(text: string): string {
  return text.split("\n").map(keepTabs).join("\n");
}

function keepTabs(line: string): string {
  return line.split("\t").map(printable).join("\t");
}
