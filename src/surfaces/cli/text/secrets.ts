import { WaypointError } from "../../../shared/errors/index.ts";
import { printable } from "./printable.ts";

const HIDDEN = "•••";
/** What names a value that is for nobody's eyes. */
const NAME = "token|secret|passw|passphrase|credential";
const VARIABLE = new RegExp(`${NAME}|key`, "i");

/** A value: in quotes, or up to the next space. */
const VALUE = `"[^"]*"|'[^']*'|[^\\s"';&|)]+`;
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
  /(\bauthorization: *(?:(?:basic|bearer|token) +)?)[^\s"']+/gi,
  // A password in an address: postgres://user:password@host.
  /(:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g,
  // Of GitHub, GitLab, Slack, npm, AWS and those that begin with sk-; tokens of JSON.
  /(\b)(?:gh[opsur]_|github_pat_|glpat-|xox[abeoprs]-|npm_|sk-)[\w-]{16,}/g,
  /(\b)AKIA[0-9A-Z]{16}\b/g,
  /(\b)eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
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
  const known = PATTERNS.reduce((shown, each) => shown.replace(each, `$1${HIDDEN}`), text);
  const pattern = ownPattern();
  return pattern === undefined ? known : known.replaceAll(new RegExp(pattern, "g"), HIDDEN);
}

/** Returns what came out of a session as one line to be shown: see {@link printable}. */
export function shownCommand(text: string): string {
  return printable(hideSecrets(text));
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
