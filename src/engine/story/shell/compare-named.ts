import type { NamedChange } from "../../../shared/protocol/index.ts";

/** Longest value that a story keeps; whether it changed is told from the whole. */
const VALUE_CHARS_MAX = 16 * 1024;

/** Returns what was added, modified and deleted among things that have names, by name. */
export function compareNamed(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
  leftOut: readonly string[] = [],
): NamedChange[] {
  const names = [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => !leftOut.includes(name) && before.get(name) !== after.get(name))
    .sort();
  return names.map((name) => {
    const [was, is] = [before.get(name), after.get(name)];
    const change = was === undefined ? "added" : is === undefined ? "deleted" : "modified";
    return { name, change, before: cut(was), after: cut(is) };
  });
}

function cut(value: string | undefined): string | null {
  if (value === undefined) return null;
  return value.length <= VALUE_CHARS_MAX ? value : `${value.slice(0, VALUE_CHARS_MAX)}…`;
}
