import path from "node:path";
import { InvalidArgumentError } from "commander";
import { type Bind, PIDS_MAX } from "../../shared/protocol/index.ts";

/** Limits of the contract, said here in words before the daemon says them in its own. */
const SECONDS_MAX = 86_400;
const FORKS_MAX = 256;
const AT_ONCE_MAX = 64;
const REFERENCE_LENGTH_MAX = 1024;
const INTENT_LENGTH_MAX = 10_000;
const FILTER_LENGTH_MAX = 4096;
const LIMIT_MAX = 1_000_000;

/** Turns "90" or "1.5" (seconds) into milliseconds. */
export function parseSeconds(text: string): number {
  const seconds = Number(text);
  const isNumber = text.trim() !== "" && Number.isFinite(seconds);
  if (!isNumber || seconds <= 0 || seconds > SECONDS_MAX) {
    throw new InvalidArgumentError(
      `Give a number of seconds above 0 and of at most ${SECONDS_MAX}, which is a day.`,
    );
  }
  return Math.max(1, Math.round(seconds * 1000));
}

/** Turns text into how many forks to make. */
export function parseCount(text: string): number {
  return parseWhole(text, FORKS_MAX);
}

/** Turns text into how many processes and threads a session may have; `null` is any number. */
export function parsePids(text: string): number | null {
  if (text === "unlimited") return null;
  return parseWhole(text, PIDS_MAX);
}

/** Turns text into how many forks to have at once. */
export function parseConcurrency(text: string): number {
  return parseWhole(text, AT_ONCE_MAX);
}

function parseWhole(text: string, max: number): number {
  const isWhole = /^[1-9][0-9]{0,8}$/.test(text);
  if (!isWhole || Number(text) > max) {
    throw new InvalidArgumentError(`Give a whole number from 1 to ${max}.`);
  }
  return Number(text);
}

/** Turns text into how many checkpoints to show. */
export function parseLimit(text: string): number {
  const isWhole = /^[1-9][0-9]{0,8}$/.test(text);
  if (isWhole && Number(text) <= LIMIT_MAX) return Number(text);
  throw new InvalidArgumentError(
    `Give a whole number from 1 to ${LIMIT_MAX.toLocaleString("en")}.`,
  );
}

/** Returns what names an operation: its number in the log. */
export function parseOperation(text: string): string {
  if (/^[1-9][0-9]{0,14}$/.test(text)) return text;
  throw new InvalidArgumentError("Give the number of an operation, as `waypoint op log` lists it.");
}

/** Returns what checkpoints are looked for by. */
export function parseFilter(text: string): string {
  if (text.length <= FILTER_LENGTH_MAX) return parseText(text);
  throw new InvalidArgumentError(`Give at most ${FILTER_LENGTH_MAX} characters.`);
}

/** Returns what is to be kept on standby. */
export function parsePolicy(text: string): string {
  if (/^(off|head|[1-9]|1[0-6])$/.test(text)) return text;
  throw new InvalidArgumentError("Give off, head, or a number of checkpoints from 1 to 16.");
}

/** Returns text that must not be empty, as a script's variable is that was never set. */
export function parseText(text: string): string {
  if (text === "") throw new InvalidArgumentError("Give a value, or leave the option out.");
  return text;
}

/** Returns what names a session or a checkpoint; whether it exists is for the daemon to say. */
export function parseReference(text: string): string {
  if (text === "") throw new InvalidArgumentError("Give a name or an id.");
  if (text.length > REFERENCE_LENGTH_MAX) {
    throw new InvalidArgumentError(
      `Names and ids have at most ${REFERENCE_LENGTH_MAX} characters.`,
    );
  }
  return text;
}

/** Returns what a checkpoint's moment is. */
export function parseIntent(text: string): string {
  if (text.length <= INTENT_LENGTH_MAX) return text;
  throw new InvalidArgumentError(
    `An intent has at most ${INTENT_LENGTH_MAX} characters, this one ${text.length}.`,
  );
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
