import { WaypointError } from "../../../shared/errors/index.ts";
import { KNOWN_TOKENS } from "../../../shared/secrets/index.ts";
import { printable } from "./printable.ts";

const HIDDEN = "•••";
/** What names a value that is for nobody's eyes. */
const NAME = "token|secret|passw|passphrase|credential|(?<![a-z])pass(?![a-z])";
const VARIABLE = new RegExp(`${NAME}|key`, "i");

/** A value: in quotes, or up to the next space. */
const VALUE = `"[^"]*"|'[^']*'|[^\\s"';&|)]+`;
/** A client of HTTP up to the user and password that it is given. */
const CLIENT = String.raw`\b(?:curl|wget|https?)\b[^|;&\n]*? (?:-u|--user|--proxy-user|-a|--auth)[= ]?`;
/** Each has what stays in a first group, and then what is hidden; what follows stays. */
const PATTERNS: readonly RegExp[] = [
  // API_TOKEN=…
  new RegExp(`(\\b\\w*(?:${NAME}|key)\\w*=)(?:${VALUE})`, "gi"),
  // --password …, --api-key=…; a --key is as often the path of one
  new RegExp(
    `(--?[\\w-]*(?:${NAME}|(?:api|access|auth|secret)[-_]?key)[\\w-]*[= ])(?:${VALUE})`,
    "gi",
  ),
  // "token": "…", X-Api-Key: …
  new RegExp(`(\\b[\\w-]*(?:${NAME}|api[-_]?key)[\\w-]*["']?: *)(?:${VALUE})`, "gi"),
  // The same in a string: {\"token\": \"…\"}
  new RegExp(`(\\b[\\w-]*(?:${NAME}|api[-_]?key)[\\w-]*\\\\["']: *\\\\["'])[^"'\\\\]+`, "gi"),
  /(\bauthorization: *(?:(?:basic|bearer|token) +)?)[^\s"']+/gi,
  /(\b(?:set-)?cookie: *)[^"'\n]+/gi,
  // curl -u user:password
  new RegExp(`(${CLIENT}["'][^"':]+:)[^"']+`, "gi"),
  new RegExp(`(${CLIENT}[^\\s"':-][^\\s"':]*:)[^\\s"']+`, "gi"),
  // mysql -ppassword, sshpass -p password, redis-cli -a password
  /(\b(?:mysql|mariadb)\w*\b[^|;&\n]*? -p)[^\s|;&]+/gi,
  /(\b(?:sshpass\b[^|;&\n]*? -p|redis-cli\b[^|;&\n]*? -a) *)(?:"[^"]*"|'[^']*'|[^\s|;&]+)/gi,
  // A password in an address: postgres://user:password@host.
  /(:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g,
];

/** Variable of the environment with one more pattern, of names and of texts. */
const OWN_VARIABLE = "WAYPOINT_SECRETS";
let own: { source: string; pattern: RegExp } | undefined;

/**
 * Returns a variable's value as it may be shown on a screen that others see, too. What it hides is
 * in the answer itself, which `--json` prints.
 */
export function hideSecret(name: string, value: string): string {
  if (value === "") return value;
  return VARIABLE.test(name) || ownPattern()?.test(name) === true ? HIDDEN : hideSecrets(value);
}

/** Returns a command line, or what somebody said, with what is secret in it hidden. */
export function hideSecrets(text: string): string {
  const named = PATTERNS.reduce((shown, each) => shown.replace(each, `$1${HIDDEN}`), text);
  const known = KNOWN_TOKENS.reduce((shown, each) => shown.replace(each, HIDDEN), named);
  const pattern = ownPattern();
  return pattern === undefined ? known : known.replaceAll(new RegExp(pattern, "g"), HIDDEN);
}

/** Returns what came out of a session as one line to be shown: see {@link printable}. */
export function shownCommand(text: string): string {
  return printable(hideSecrets(text));
}

/** The longest text found by itself that is shown as what somebody meant. */
const MEANT_CHARACTERS_MAX = 200;

/** Returns what was found to be meant, hidden first and cut then: half of a secret is one, too. */
export function shownIntent(text: string): string {
  const shown = shownCommand(text);
  const isShort = shown.length <= MEANT_CHARACTERS_MAX;
  return isShort ? shown : `${shown.slice(0, MEANT_CHARACTERS_MAX - 1).trimEnd()}…`;
}

/** Returns lines of a screen with what is secret hidden, also where the terminal has wrapped it. */
export function shownScreen(lines: readonly string[], columns: number): string[] {
  const shown: string[] = [];
  for (let first = 0; first < lines.length; ) {
    let after = first + 1;
    while (after < lines.length && (lines[after - 1] ?? "").length >= columns) after += 1;
    const wrapped = lines.slice(first, after).join("");
    const text = shownCommand(wrapped);
    // Where nothing is hidden the lines stay as the terminal had them.
    if (text === printable(wrapped)) shown.push(...lines.slice(first, after).map(printable));
    else shown.push(...(text.match(new RegExp(`.{1,${columns}}`, "gu")) ?? [""]));
    first = after;
  }
  return shown;
}

/** @throws USAGE_INVALID  it is no regular expression. */
function ownPattern(): RegExp | undefined {
  const source = process.env[OWN_VARIABLE] ?? "";
  if (source === "") return undefined;
  if (own?.source !== source) own = { source, pattern: parse(source) };
  return own.pattern;
}

function parse(source: string): RegExp {
  try {
    return new RegExp(source);
  } catch (cause) {
    throw new WaypointError("USAGE_INVALID", `${OWN_VARIABLE} is not a regular expression.`, {
      hint: `Correct it or unset it: ${(cause as Error).message}.`,
      detail: { variable: OWN_VARIABLE },
      cause,
    });
  }
}
