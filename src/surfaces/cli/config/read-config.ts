import { homedir } from "node:os";
import { toWaypointError, type WaypointError } from "../../../shared/errors/index.ts";
import { isAllowed } from "./allowed.ts";
import { type ConfigPlace, findDirectoryFile, readConfigText, userFile } from "./config-files.ts";
import { CONFIG_KEY_NAMES, type ConfigKey, type ConfigValue, rowOf } from "./keys.ts";
import { parseConfig, type SetKey } from "./parse-config.ts";

/** Who has set a key. */
export type ConfigSource = "environment" | "directory" | "user" | "built-in";

/** What a key is, and where that comes from. */
export interface Setting {
  key: ConfigKey;
  value: ConfigValue;
  source: ConfigSource;
  file: string | null;
  line: number | null;
}

/** All that the config files say, as it holds. */
export interface Config {
  settings: Readonly<Record<ConfigKey, Setting>>;
  /**
   * Keys that the directory's file sets in vain: nobody has allowed it, or, where it is allowed, they are
   * the user's own.
   */
  held: readonly { key: ConfigKey; file: string; line: number; isAllowed: boolean }[];
  /** Why files count for nothing: CONFIG_INVALID. */
  problems: readonly WaypointError[];
}

/** Returns where this process looks for config files. */
export function configPlace(): ConfigPlace {
  return { env: process.env, cwd: currentDirectory(), home: homeDirectory() };
}

/** The directory that somebody stands in may have been removed. */
function currentDirectory(): string | null {
  try {
    return process.cwd();
  } catch {
    return null;
  }
}

/** A user whom the machine does not know has no home, and no config. */
function homeDirectory(): string {
  try {
    return homedir();
  } catch {
    return "/nonexistent";
  }
}

/** What one file says. */
interface FileSays {
  file: string;
  set: readonly SetKey[];
  isTrusted: boolean;
}

/**
 * Reads the user's file and the directory's; a variable of the environment goes before both, the
 * directory's before the user's. A file that cannot be used counts for nothing and is in `problems`.
 *
 * The directory's file comes from whoever wrote what lies there: it sets what is shown, and all else
 * only where the user has allowed exactly this file.
 */
export async function readConfig(place: ConfigPlace = configPlace()): Promise<Config> {
  const problems: WaypointError[] = [];
  const orNothing = async (read: () => Promise<FileSays | null>) =>
    await read().catch((error: unknown) => {
      problems.push(toWaypointError(error));
      return null;
    });
  const user = await orNothing(() => readUserFile(place));
  const directory = await orNothing(() => readDirectoryFile(place));
  const isAllowed = directory?.isTrusted === true;
  const isTaken = ({ key, value }: SetKey) => {
    const { isHarmless, isLeftTo } = rowOf(key);
    const ofUser = user?.set.find((each) => each.key === key)?.value ?? null;
    return isHarmless || (isAllowed && (isLeftTo?.(value, ofUser) ?? true));
  };
  const settings = CONFIG_KEY_NAMES.map((key) => {
    const ofDirectory = directory?.set.find((each) => each.key === key && isTaken(each));
    const ofUser = user?.set.find((each) => each.key === key);
    return (
      fromEnvironment(key, place.env) ??
      (ofDirectory === undefined
        ? ofUser === undefined
          ? { key, value: rowOf(key).builtIn, source: "built-in", file: null, line: null }
          : { ...ofUser, source: "user", file: user?.file ?? null }
        : { ...ofDirectory, source: "directory", file: directory?.file ?? null })
    );
  });
  const held = (directory?.set ?? []).filter((each) => !isTaken(each));
  return {
    settings: Object.fromEntries(
      settings.map((setting) => [setting.key, setting]),
    ) as unknown as Config["settings"],
    held: held.map(({ key, line }) => ({ key, line, file: directory?.file ?? "", isAllowed })),
    problems,
  };
}

async function readUserFile(place: ConfigPlace): Promise<FileSays | null> {
  const file = userFile(place);
  const text = readConfigText(file, { isForeign: false });
  return text === null ? null : { file, set: await parseConfig(file, text), isTrusted: true };
}

async function readDirectoryFile(place: ConfigPlace): Promise<FileSays | null> {
  const file = findDirectoryFile(place);
  const text = file === null ? null : readConfigText(file, { isForeign: true });
  if (file === null || text === null) return null;
  return { file, set: await parseConfig(file, text), isTrusted: isAllowed(place, file, text) };
}

function fromEnvironment(key: ConfigKey, { NO_COLOR = "" }: NodeJS.ProcessEnv): Setting | null {
  if (key !== "colours" || NO_COLOR === "") return null;
  return { key, value: "never", source: "environment", file: null, line: null };
}
