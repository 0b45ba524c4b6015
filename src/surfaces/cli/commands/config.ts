import path from "node:path";
import { WaypointError } from "../../../shared/errors/index.ts";
import { allow, isAllowed } from "../config/allowed.ts";
import {
  type ConfigPlace,
  DIRECTORY_FILE,
  findDirectoryFile,
  readConfigText,
  userFile,
} from "../config/config-files.ts";
import { withKey, writeConfigFile } from "../config/edit-config.ts";
import { type ConfigKey, type ConfigValue, rowOf } from "../config/keys.ts";
import { parseConfig } from "../config/parse-config.ts";
import { configPlace, readConfig, type Setting } from "../config/read-config.ts";
import { tellHeld } from "../config/use-config.ts";
import { type CommandContext, type Invocation, note, printResult } from "../context.ts";
import { parseBase } from "../parse-values.ts";
import { printable } from "../text/printable.ts";
import { hideSecrets, shownCommand } from "../text/secrets.ts";
import { layoutTable } from "../text/table.ts";

interface ConfigOptions {
  directory?: boolean;
  unset?: ConfigKey;
  allow?: boolean;
}

/** Shows the config, sets or removes a key, or allows the directory's file; needs no daemon. */
export async function run({
  context,
  args,
  rest,
  options,
}: Invocation<ConfigOptions>): Promise<number | undefined> {
  const key = args[0] as ConfigKey | undefined;
  const asked = [rest.length > 0, options.unset !== undefined, options.allow === true];
  const isSet = rest.length > 0 || options.unset !== undefined;
  const isMixed = asked.filter((each) => each).length > 1;
  const isIdle = options.directory === true && !isSet;
  if (isMixed || isIdle || (key !== undefined && asked[1]) || (key !== undefined && asked[2])) {
    throw new WaypointError("USAGE_INVALID", "One key is set, removed or allowed at a time.", {
      hint: "`waypoint config KEY VALUE`, `--unset KEY`, each with --directory or not; or `--allow`.",
    });
  }
  if (options.allow === true) return await allowHere(context);
  const place = configPlace();
  const file = options.directory === true ? fileHere(place) : userFile(place);
  if (options.unset !== undefined) return await change(context, { file, key: options.unset });
  if (key !== undefined && rest.length > 0) {
    return await change(context, { file, key, value: readTyped(key, rest) });
  }
  return await show(context, key);
}

function fileHere({ cwd }: ConfigPlace): string {
  if (cwd !== null) return path.join(cwd, DIRECTORY_FILE);
  throw new WaypointError("USAGE_INVALID", "The directory you stand in is gone.");
}

/** @throws USAGE_INVALID  the key does not take it. */
function readTyped(key: ConfigKey, words: readonly string[]): ConfigValue {
  const [word = ""] = words;
  const single = key === "base" ? parseBase(word) : word;
  const typed = key === "noise" || words.length > 1 ? words : single;
  const value = rowOf(key).read(typed);
  if (value !== undefined) return value;
  throw new WaypointError("USAGE_INVALID", `${key} takes ${rowOf(key).form}.`, {
    detail: { key },
  });
}

/**
 * Sets a key in a file, or removes it. What somebody sets in a directory's file that is new or allowed
 * is allowed; what is there from others is not.
 *
 * @throws CONFIG_INVALID  the file cannot be used as it is; it is left so.
 */
async function change(
  context: CommandContext,
  { file, key, value = null }: { file: string; key: ConfigKey; value?: ConfigValue },
): Promise<undefined> {
  const place = configPlace();
  const isForeign = path.basename(file) === DIRECTORY_FILE;
  const before = readConfigText(file, { isForeign });
  await parseConfig(file, before ?? "");
  const after = await withKey(before ?? "", key, value);
  const isOwn = isForeign && (before === null || isAllowed(place, file, before));
  if (after !== before && (before !== null || value !== null)) writeConfigFile(file, after);
  if (isOwn) allow(place, file, after);
  await printResult(context, { key, value: shownValue(value), file }, () => [
    value === null
      ? `${key} is not set in ${printable(file)}`
      : `${key} is ${tellValue(value)} in ${printable(file)}`,
  ]);
}

/** @throws USAGE_INVALID | CONFIG_INVALID  no directory here has a file, or not one that can be used. */
async function allowHere(context: CommandContext): Promise<undefined> {
  const place = configPlace();
  const file = findDirectoryFile(place);
  const text = file === null ? null : readConfigText(file, { isForeign: true });
  if (file === null || text === null) {
    throw new WaypointError("USAGE_INVALID", `There is no ${DIRECTORY_FILE} here or above.`, {
      hint: "`waypoint config KEY VALUE --directory` makes one.",
    });
  }
  const set = await parseConfig(file, text);
  allow(place, file, text);
  const values = set.map(({ key, value }) => ({ key, value: shownValue(value) }));
  await printResult(context, { file, allowed: values }, () => [
    `${printable(file)} may set, until it changes:`,
    ...set.map(({ key, value }) => `  ${key} = ${tellValue(value)}`),
  ]);
}

/** Shows what holds; a file that cannot be used is told, and all others are shown. */
async function show(
  context: CommandContext,
  wanted: ConfigKey | undefined,
): Promise<number | undefined> {
  const { settings, held, problems } = await readConfig();
  const shown = Object.values(settings)
    .filter(({ key }) => wanted === undefined || key === wanted)
    .map((setting) => ({ ...setting, value: shownValue(setting.value) }));
  const isOne = wanted !== undefined;
  const result = isOne
    ? shown[0]
    : { settings: shown, held, problems: problems.map((each) => each.toJSON()) };
  await printResult(context, result, () =>
    isOne ? shown.map(({ value }) => tellValue(value)) : renderSettings(shown),
  );
  const told = tellHeld(held);
  if (told !== null && !isOne) note(context, told);
  for (const { message } of problems) note(context, `Not used: ${message}`);
  return problems[0] === undefined ? undefined : 2;
}

function renderSettings(settings: readonly Setting[]): string[] {
  const rows = settings.map(({ key, value, source, file, line }) => [
    key,
    tellValue(value),
    file === null ? source : `${source}: ${printable(file)}, line ${line}`,
  ]);
  return layoutTable([{ title: "KEY" }, { title: "VALUE" }, { title: "FROM" }], rows);
}

function tellValue(value: ConfigValue): string {
  if (value === null || value.length === 0) return "-";
  return shownCommand(typeof value === "string" ? value : value.map(quoted).join(" "));
}

/** A word with a space in it stays one word. */
function quoted(word: string): string {
  return /^[^\s'"\\$`;&|<>()]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** A token in a verify command is for nobody who looks at a config. */
function shownValue(value: ConfigValue): ConfigValue {
  if (value === null) return null;
  return typeof value === "string" ? hideSecrets(value) : value.map(hideSecrets);
}
