import { didYouMean } from "../../../shared/errors/index.ts";
import { configInvalid } from "./config-files.ts";
import { CONFIG_KEY_NAMES, type ConfigKey, type ConfigValue, isConfigKey, rowOf } from "./keys.ts";

/** One key as a file sets it. */
export interface SetKey {
  key: ConfigKey;
  value: ConfigValue;
  line: number;
}

/** Lines of a file that belong together: a key with its value, or what lies between two of these. */
export interface Entry {
  /** `null` for comments and empty lines. */
  key: string | null;
  lines: string[];
}

/** A value that goes on for longer is left to whoever wrote it. */
const ENTRY_LINES_MAX = 200;
/** A line that sets nothing. */
const NO_KEY = /^\s*(?:#|$)/;
/** Lists of lists are in no value. */
const DEPTH_MAX = 4;

/**
 * Reads what a config file sets.
 *
 * @throws CONFIG_INVALID  it is no TOML, or has a key or value that there is not.
 */
export async function parseConfig(file: string, text: string): Promise<SetKey[]> {
  const table = await parseToml(file, text);
  const entries = await splitEntries(text);
  return Object.entries(table).map(([key, value]) => {
    const line = lineOf(entries, key);
    const where = { file, key, ...(line === null ? {} : { line }) };
    const at = `${file}${line === null ? "" : `, line ${line}`}`;
    if (!isConfigKey(key)) {
      const known = `Known are ${CONFIG_KEY_NAMES.join(", ")}.`;
      const hint = didYouMean(key, CONFIG_KEY_NAMES) || known;
      throw configInvalid(`${at}: there is no key ${JSON.stringify(key)}.`, where, undefined, hint);
    }
    const read = rowOf(key).read(value);
    if (read === undefined) throw configInvalid(`${at}: ${key} takes ${rowOf(key).form}.`, where);
    return { key, value: read, line: line ?? 1 };
  });
}

async function parseToml(file: string, text: string): Promise<Record<string, unknown>> {
  // Loaded where there is a file: few commands meet one.
  const { parse, TomlError } = await import("smol-toml");
  try {
    return parse(text, { maxDepth: DEPTH_MAX, unsafeKeyBehaviour: "throw" });
  } catch (error) {
    const line = error instanceof TomlError ? error.line : 1;
    throw configInvalid(`${file}, line ${line}: it is no TOML.`, { file, line });
  }
}

function lineOf(entries: readonly Entry[], wanted: string): number | null {
  let line = 1;
  for (const { key, lines } of entries) {
    if (key === wanted) return line;
    line += lines.length;
  }
  return null;
}

/** Cuts a file that is TOML into what belongs together: an entry is the least that is TOML, too. */
export async function splitEntries(text: string): Promise<Entry[]> {
  const { parse } = await import("smol-toml");
  const keyOf = (part: string): string | null | undefined => {
    try {
      return Object.keys(parse(part, { maxDepth: DEPTH_MAX }))[0] ?? null;
    } catch {
      return undefined;
    }
  };
  const lines = text.split("\n");
  const entries: Entry[] = [];
  for (let from = 0; from < lines.length; ) {
    let to = from;
    // A file may be nothing but empty lines, tens of thousands of them.
    let key: string | null | undefined = NO_KEY.test(lines[from] ?? "") ? null : undefined;
    if (key === null) to += 1;
    while (key === undefined && to < Math.min(lines.length, from + ENTRY_LINES_MAX)) {
      to += 1;
      key = keyOf(lines.slice(from, to).join("\n"));
    }
    // The rest cannot be told apart; it is nobody's to change.
    if (key === undefined) return [...entries, { key: null, lines: lines.slice(from) }];
    entries.push({ key, lines: lines.slice(from, to) });
    from = to;
  }
  return entries;
}
