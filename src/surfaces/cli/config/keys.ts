import { AUTO_POLICY_WORDS, parseAutoPolicy } from "../../../shared/protocol/index.ts";
import { DETACH_KEYS_DEFAULT, parseDetachKeys } from "../terminal/detach-keys.ts";

/** What a key can be set to; `null` is nothing. */
export type ConfigValue = string | readonly string[] | null;

/** What there is to say of a key. */
interface KeyRow {
  words: string;
  /** What it takes, for whoever gave something else. */
  form: string;
  builtIn: ConfigValue;
  /** It changes what is shown and nothing else, so that anybody's directory may set it. */
  isHarmless: boolean;
  /** Whether a directory's file that was allowed may set it so, with what the user's own file says. */
  isLeftTo?: (value: ConfigValue, ofUser: ConfigValue) => boolean;
  /** Returns the value as it is used; `undefined` where it is none. */
  read: (value: unknown) => ConfigValue | undefined;
}

const TEXT_CHARACTERS_MAX = 4096;
const WORDS_MAX = 100;
const KEYS_CHARACTERS_MAX = 64;
const GLOBS_MAX = 64;
const GLOB_CHARACTERS_MAX = 100;
const COLOURS: readonly string[] = ["auto", "always", "never"];

/** Every key of a config file, in the order in which they are told. */
export const CONFIG_KEYS = {
  verify: {
    words: "command of new sessions, as `waypoint verify --set`",
    form: `a line of shell, or a list of words, of at most ${TEXT_CHARACTERS_MAX} characters each`,
    builtIn: null,
    isHarmless: false,
    read: (value) =>
      isText(value, TEXT_CHARACTERS_MAX) || isList(value, WORDS_MAX, TEXT_CHARACTERS_MAX)
        ? value
        : undefined,
  },
  auto: {
    words: "policy of new sessions, as `new --auto`",
    form: AUTO_POLICY_WORDS,
    builtIn: null,
    isHarmless: false,
    read: (value) =>
      isText(value, TEXT_CHARACTERS_MAX) ? parseAutoPolicy(value)?.text : undefined,
  },
  "detach-keys": {
    words: "keys that leave an attached session",
    form: "keys as ctrl-X or as one character, with commas: ctrl-],d",
    builtIn: DETACH_KEYS_DEFAULT,
    // Whoever chooses them chooses when what is typed goes to the host's shell.
    isHarmless: false,
    read: (value) => (isText(value, KEYS_CHARACTERS_MAX) && areKeys(value) ? value : undefined),
  },
  base: {
    words: "base of new sessions, as `new --base`",
    form: "the name of a kept base, or the whole path of a directory",
    builtIn: null,
    isHarmless: false,
    read: (value) =>
      isText(value, TEXT_CHARACTERS_MAX) && (value.startsWith("/") || /^[^/.][^/]*$/.test(value))
        ? value
        : undefined,
  },
  approve: {
    words: "what a person has to approve in new sessions, as `new --approve`",
    form: "off, default, a policy in JSON, or the whole path of a file with one",
    builtIn: null,
    isHarmless: false,
    // It never goes before a policy of the user's, and what a file has changes after it was read.
    isLeftTo: (value, ofUser) => (ofUser ?? "off") === "off" && !String(value).startsWith("/"),
    read: (value) => (isText(value, TEXT_CHARACTERS_MAX) && isPolicy(value) ? value : undefined),
  },
  colours: {
    words: "when to print in colours; NO_COLOR goes before",
    form: "auto, always or never",
    builtIn: "auto",
    isHarmless: true,
    read: (value) => (typeof value === "string" && COLOURS.includes(value) ? value : undefined),
  },
  noise: {
    words: "further files that no line of the timeline names, as globs",
    form: `a list of at most ${GLOBS_MAX} globs of at most ${GLOB_CHARACTERS_MAX} characters each`,
    builtIn: [],
    isHarmless: true,
    read: (value) => (isList(value, GLOBS_MAX, GLOB_CHARACTERS_MAX) ? value : undefined),
  },
} as const satisfies Record<string, KeyRow>;

export type ConfigKey = keyof typeof CONFIG_KEYS;
export const CONFIG_KEY_NAMES = Object.keys(CONFIG_KEYS) as ConfigKey[];

/** Returns what there is to say of a key. */
export function rowOf(key: ConfigKey): KeyRow {
  return CONFIG_KEYS[key];
}

export function isConfigKey(text: string): text is ConfigKey {
  return Object.hasOwn(CONFIG_KEYS, text);
}

function isText(value: unknown, charactersMax: number): value is string {
  return typeof value === "string" && value !== "" && value.length <= charactersMax;
}

function isList(value: unknown, countMax: number, charactersMax: number): value is string[] {
  const isShort = Array.isArray(value) && value.length > 0 && value.length <= countMax;
  return isShort && value.every((each) => isText(each, charactersMax));
}

/** What is in it is for the daemon to say. */
function isPolicy(text: string): boolean {
  if (text === "off" || text === "default" || text.startsWith("/")) return true;
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
  } catch {
    return false;
  }
}

function areKeys(text: string): boolean {
  try {
    return parseDetachKeys(text).length > 0;
  } catch {
    return false;
  }
}
