import { InvalidArgumentError } from "commander";

/** Turns "90" or "1.5" (seconds) into milliseconds. */
export function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!Number.isFinite(seconds) || seconds <= 0) {
    throw new InvalidArgumentError("Give a positive number of seconds.");
  }
  return Math.max(1, Math.round(seconds * 1000));
}

/** Turns text into a whole number of at least 1. */
export function parseCount(text: string): number {
  if (!/^[1-9][0-9]{0,8}$/.test(text)) {
    throw new InvalidArgumentError("Give a whole number of at least 1.");
  }
  return Number(text);
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
