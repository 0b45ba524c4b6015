/** Commands that change nothing, so that one may be run to see whether it was meant. */
export const SUGGESTED_COMMANDS: ReadonlySet<string> = new Set([
  ...["cat", "diff", "doctor", "grep", "help", "log", "ls", "ps", "show"],
]);

/**
 * Returns the parser's suggestion for an unknown command, without the commands that change
 * something: who follows a suggestion blindly must lose nothing. Null if none is left.
 */
export function keepHarmless(suggestion: string): string | null {
  const [, names = ""] = /^Did you mean (?:one of )?(.+)\?$/.exec(suggestion) ?? [];
  const kept = names.split(", ").filter((name) => SUGGESTED_COMMANDS.has(name));
  if (kept.length === 0) return null;
  return `Did you mean ${kept.length === 1 ? "" : "one of "}${kept.join(", ")}?`;
}
