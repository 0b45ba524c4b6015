/** Commands that change nothing, so that one may be run to see whether it was meant. */
export const SUGGESTED_COMMANDS: ReadonlySet<string> = new Set([
  ...["cat", "diff", "doctor", "grep", "help", "log", "ls", "ps", "show", "status"],
]);

/** What commands are called elsewhere, each with what it is here. */
const CALLED_HERE: Readonly<Record<string, readonly string[]>> = {
  attach: ["connect", "console", "enter", "join", "login", "open", "shell", "ssh"],
  checkpoint: ["capture", "commit", "save", "snap", "snapshot"],
  daemon: ["serve", "server", "service"],
  exec: ["execute"],
  fork: ["branch", "clone", "copy", "duplicate"],
  log: ["history", "timeline"],
  ls: ["list", "sessions"],
  new: ["create", "init", "launch", "spawn"],
  "op log": ["operations", "ops", "reflog"],
  ps: ["processes", "top"],
  rename: ["mv"],
  restore: ["checkout", "load", "reset", "rollback", "switch"],
  rm: ["clean", "delete", "destroy", "drop", "gc", "prune", "purge", "remove"],
  show: ["details", "info", "inspect"],
  "--help": ["usage"],
  start: ["continue", "resume", "up"],
  status: ["current", "pwd", "where", "whereami", "which"],
  stop: ["down", "halt", "kill", "pause", "shutdown", "terminate"],
  "--version": ["ver", "version"],
};

/** Every name above that is none of this program's. */
export const OTHER_NAMES: readonly string[] = Object.values(CALLED_HERE).flat();

/**
 * Returns the sentence that leads from a command of other programs to the one of this, without
 * offering to carry it out; null where there is none.
 */
export function leadFrom(word: string): string | null {
  const found = Object.entries(CALLED_HERE).find(([, others]) => others.includes(word));
  if (found === undefined) return null;
  const [name] = found;
  if (name.startsWith("-")) return `That is \`waypoint ${name}\`.`;
  if (SUGGESTED_COMMANDS.has(name)) return `Did you mean ${name}?`;
  return `Here it is called ${name}: \`waypoint ${name} --help\` says what it does.`;
}

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
