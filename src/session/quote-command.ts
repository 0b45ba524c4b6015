const NEEDS_NO_QUOTES = /^[A-Za-z0-9_@%+=:,./-]+$/;

/**
 * Returns a command as a line of shell.
 *
 * One word is a line already; several are a program and its arguments, quoted where needed, so
 * that plain words still find builtins and aliases.
 */
export function quoteCommand(words: readonly string[]): string {
  if (words.length === 1) return words[0] as string;
  return words.map(quoteWord).join(" ");
}

function quoteWord(word: string): string {
  return NEEDS_NO_QUOTES.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
