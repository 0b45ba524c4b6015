import { existsSync, mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { WaypointError } from "../../../shared/errors/index.ts";
import type { ConfigKey, ConfigValue } from "./keys.ts";
import { splitEntries } from "./parse-config.ts";

/**
 * Returns a config file's text with a key set anew, or without it where `value` is `null`.
 *
 * Comments and the order stay, but for a comment on the lines of the value itself.
 * **Requires** the text is a config that can be used.
 */
export async function withKey(text: string, key: ConfigKey, value: ConfigValue): Promise<string> {
  const { stringify } = await import("smol-toml");
  const lines = value === null ? [] : [stringify({ [key]: value }).trimEnd()];
  const entries = await splitEntries(text);
  const isThere = entries.some((entry) => entry.key === key);
  if (isThere) {
    return entries.flatMap((entry) => (entry.key === key ? lines : entry.lines)).join("\n");
  }
  if (lines.length === 0) return text;
  return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${lines.join("\n")}\n`;
}

/**
 * Writes a file of config whole or not at all; where it is a link, what that leads to.
 *
 * @throws USAGE_INVALID  it cannot be written: it was left as it was.
 */
export function writeConfigFile(file: string, text: string): void {
  try {
    makeFolder(path.dirname(file));
    writeWhole(targetOf(file), text);
  } catch (error) {
    throw new WaypointError("USAGE_INVALID", `${file} cannot be written.`, {
      hint: "XDG_CONFIG_HOME can name another folder for the user's config.",
      detail: { file },
      cause: error,
    });
  }
}

/** One folder after the other: below /proc, Node's own `recursive` tries for ever. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(path.dirname(folder));
  mkdirSync(folder);
}

function writeWhole(target: string, text: string): void {
  // Loaded only here, as in allowed.ts.
  const { randomUUID } = process.getBuiltinModule("node:crypto");
  const beside = `${target}.${randomUUID().slice(0, 8)}`;
  try {
    writeFileSync(beside, text, { flag: "wx", mode: 0o644 });
    renameSync(beside, target);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}

function targetOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
