import { readFileSync, statSync } from "node:fs";
import { InvalidArgumentError } from "commander";

/** What one call hands over: a message to the daemon has room for no more. */
const BYTES_MAX = 15 * 1024 * 1024;

/** A state's schema as it is typed: NAME@VERSION. */
export function parseSchema(text: string): { name: string; version: number } {
  const [, name = "", version = ""] = /^(.{1,200})@([1-9]\d{0,8})$/.exec(text) ?? [];
  if (name !== "") return { name, version: Number(version) };
  throw new InvalidArgumentError("Give the name and the version of the form: planner@2.");
}

/** Returns a value typed as JSON, or read from a file as @FILE; @- is standard input. */
export function parseJson(text: string): unknown {
  const json = text.startsWith("@") ? readText(text.slice(1)) : text;
  try {
    return JSON.parse(json);
  } catch (error) {
    const where = text.startsWith("@") ? `${text.slice(1)} is` : "That is";
    throw new InvalidArgumentError(`${where} no JSON: ${(error as Error).message}.`);
  }
}

/** Adds a KEY=VALUE to those given before; the value as {@link parseJson} takes it. */
export function collectState(
  text: string,
  previous: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("Give KEY=@FILE, or KEY=JSON: plan='{\"step\":1}'.");
  const key = text.slice(0, at);
  if (Object.hasOwn(previous, key)) throw new InvalidArgumentError(`Key ${key} is given twice.`);
  return { ...previous, [key]: parseJson(text.slice(at + 1)) };
}

/** The same for the ends of lists: a list is its items, all else one item. */
export function collectItems(
  text: string,
  previous: Readonly<Record<string, unknown[]>> = {},
): Record<string, unknown[]> {
  return Object.fromEntries(
    Object.entries(collectState(text, previous)).map(([key, given]) => [
      key,
      Array.isArray(given) ? given : [given],
    ]),
  );
}

function readText(path: string): string {
  try {
    const file = path === "-" ? 0 : path;
    if (file !== 0) requireSize(statSync(path).size, path);
    const bytes = readFileSync(file);
    requireSize(bytes.length, path);
    return bytes.toString();
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw error;
    throw new InvalidArgumentError(`${path} cannot be read: ${(error as Error).message}.`);
  }
}

function requireSize(bytes: number, path: string): void {
  if (bytes <= BYTES_MAX) return;
  const mebibytes = (bytes / 1024 ** 2).toFixed(1);
  throw new InvalidArgumentError(
    `${path} has ${mebibytes} MiB, and one call takes ${BYTES_MAX / 1024 ** 2}: append a list in parts.`,
  );
}
