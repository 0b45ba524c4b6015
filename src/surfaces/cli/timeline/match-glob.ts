const PARTS = /\*\*\/|\*\*|\*|\?|./gsu;
// What follows, up to the slash, may be left out: `a/**/b` names a/b, too.
const OPTIONAL = "optional";

/**
 * Tells whether a glob names a path, or a directory on it, from any directory on: `*.log` and
 * `build` are found everywhere, `/srv/build` at its place alone.
 *
 * `*` and `?` stand for no slash, `**` for anything. All ways through the glob are followed at once,
 * so that none takes long, whatever it is: globs come from files that somebody else wrote.
 */
export function matchesGlob(glob: string, path: string): boolean {
  const parts = partsOf(glob.replace(/\/+$/, ""));
  if (parts.length === 0) return false;
  const within = [...path.matchAll(/\//g)].map(({ index }) => path.slice(index + 1));
  const starts = glob.startsWith("/") ? [path] : [path, ...within];
  return starts.some((start) => matchesBeginning(parts, start));
}

/** The end of the glob has to be the end of a name. */
function matchesBeginning(parts: readonly string[], path: string): boolean {
  let reached = new Set<number>();
  enter(parts, 0, reached);
  for (const character of path) {
    if (character === "/" && reached.has(parts.length)) return true;
    const next = new Set<number>();
    for (const at of reached) step(parts, at, character, next);
    reached = next;
  }
  return reached.has(parts.length);
}

function partsOf(glob: string): string[] {
  const parts = glob.match(PARTS) ?? [];
  return parts.flatMap((part) => (part === "**/" ? [OPTIONAL, "**", "/"] : [part]));
}

/** Goes on from one place by one character. */
function step(parts: readonly string[], at: number, character: string, next: Set<number>): void {
  const part = parts[at];
  const isName = character !== "/";
  if (part === "**" || (part === "*" && isName)) enter(parts, at, next);
  else if (part === character || (part === "?" && isName)) enter(parts, at + 1, next);
}

/** What may stand for nothing is passed at once. */
function enter(parts: readonly string[], at: number, reached: Set<number>): void {
  if (reached.has(at)) return;
  reached.add(at);
  const part = parts[at];
  if (part === "*" || part === "**" || part === OPTIONAL) enter(parts, at + 1, reached);
  if (part === OPTIONAL) enter(parts, at + 3, reached);
}
