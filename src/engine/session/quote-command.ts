import type { ShellDialect } from "../../linux/sandbox/index.ts";

const NEEDS_NO_QUOTES = /^[A-Za-z0-9_@%+=:,./-]+$/;

/**
 * Returns a command as a line of shell.
 *
 * One word is a line already; several are a program and its arguments, quoted where needed, so
 * that plain words still find builtins and aliases.
 */
export function quoteCommand(words: readonly string[], dialect: ShellDialect): string {
  if (words.length === 1) return words[0] as string;
  return words.map((word) => quoteWord(word, dialect)).join(" ");
}

/** Between single quotes fish, unlike all others, takes a backslash for an escape. */
function quoteWord(word: string, dialect: ShellDialect): string {
  if (NEEDS_NO_QUOTES.test(word)) return word;
  const text = dialect === "fish" ? word.replaceAll("\\", "\\\\") : word;
  return `'${text.replaceAll("'", "'\\''")}'`;
}
