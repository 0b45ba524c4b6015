import path from "node:path";
import { InvalidArgumentError } from "commander";
import { type Bind, DESCRIBED, NET_MODES, parseNetAllow } from "../../shared/protocol/index.ts";

/** Turns typed text into a value, with those given before where an option may be repeated. */
export type Parser = (text: string, previous?: never) => unknown;

/** Turns "90" or "1.5" (seconds) into milliseconds. */
export function parseSeconds(text: string, secondsMax: number): number {
  const seconds = Number(text);
  const isNumber = text.trim() !== "" && Number.isFinite(seconds);
  if (!isNumber || seconds <= 0 || seconds > secondsMax) {
    throw new InvalidArgumentError(
      `Give a number of seconds above 0 and of at most ${secondsMax}.`,
    );
  }
  return Math.max(1, Math.round(seconds * 1000));
}

/** Turns text into a whole number above 0. */
export function parseWhole(text: string, max: number): number {
  const isWhole = /^[1-9][0-9]{0,14}$/.test(text);
  if (!isWhole || Number(text) > max) {
    const most = max === Number.MAX_SAFE_INTEGER ? "above 0" : `from 1 to ${max}`;
    throw new InvalidArgumentError(`Give a whole number ${most}.`);
  }
  return Number(text);
}

/** Returns the name of a base, or the whole path of a directory, which has a slash or is one of dots. */
export function parseBase(text: string): string {
  if (text === "") throw new InvalidArgumentError("Give a base's name, or a directory.");
  return text.includes("/") || text === "." || text === ".." ? path.resolve(text) : text;
}

/** Returns how a session is to reach the network. */
export function parseNet(text: string): string {
  if ((NET_MODES as readonly string[]).includes(text) || parseNetAllow(text) !== null) return text;
  throw new InvalidArgumentError(
    `Give ${NET_MODES.join(", ")}, or allow: and names or addresses, such as ` +
      "allow:api.example.com,*.npmjs.org:443,10.1.2.0/24.",
  );
}

/** Returns what is to be kept on standby. */
export function parsePolicy(text: string): string {
  if (/^(off|head|[1-9]|1[0-6])$/.test(text)) return text;
  throw new InvalidArgumentError("Give off, head, or a number of checkpoints from 1 to 16.");
}

/**
 * Returns text of a length that a field takes. Where it must not be empty, it is refused here: a
 * script's variable may never have been set.
 */
export function parseText(
  text: string,
  { minLength = 0, maxLength = Number.POSITIVE_INFINITY },
): string {
  if (text.length < minLength) {
    throw new InvalidArgumentError("It is empty. Give a value, or leave it out.");
  }
  if (text.length > maxLength) {
    throw new InvalidArgumentError(`Give at most ${maxLength} characters, not ${text.length}.`);
  }
  return text;
}

/** Returns what names a session or a checkpoint; whether it exists is for the daemon to say. */
export function parseReference(text: string): string {
  return parseText(text, DESCRIBED.ps.fields.session);
}

const SIZE_UNITS = ["", "K", "M", "G", "T"];

/** Turns "512M" or "4G" into bytes; a unit is 1024 of the one before. */
export function parseSize(text: string): number {
  const match = /^(\d{1,12}(?:\.\d{1,3})?)([KMGT]?)(?:i?B)?$/i.exec(text);
  const bytes = Number(match?.[1]) * 1024 ** SIZE_UNITS.indexOf((match?.[2] ?? "").toUpperCase());
  if (match === null || !Number.isSafeInteger(Math.round(bytes)) || bytes < 1) {
    throw new InvalidArgumentError("Give a size such as 512M or 4G.");
  }
  return Math.round(bytes);
}

/** Turns text into a number above 0. */
export function parsePositive(text: string): number {
  const number = Number(text);
  if (!Number.isFinite(number) || number <= 0) {
    throw new InvalidArgumentError("Give a number above 0.");
  }
  return number;
}

/** Adds one KEY=VALUE to those given before. */
export function collectVariable(
  text: string,
  previous: Record<string, string> | undefined,
): Record<string, string> {
  const separator = text.indexOf("=");
  if (separator < 1) throw new InvalidArgumentError("Give it as KEY=VALUE.");
  return { ...previous, [text.slice(0, separator)]: text.slice(separator + 1) };
}

/** Adds one SOURCE:TARGET or SOURCE:TARGET:ro to those given before. */
export function collectBind(text: string, previous: Bind[] | undefined): Bind[] {
  const [source = "", target = "", mode, ...more] = text.split(":");
  const isMode = mode === undefined || mode === "ro" || mode === "rw";
  if (source === "" || target === "" || !isMode || more.length > 0) {
    throw new InvalidArgumentError("Give it as SOURCE:TARGET or SOURCE:TARGET:ro.");
  }
  const bind = { source: path.resolve(source), target, readOnly: mode === "ro" };
  return [...(previous ?? []), bind];
}

/** Adds one path to those given before. */
export function collect(text: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), text];
}
