import path from "node:path";
import { InvalidArgumentError } from "commander";
import type { Bind } from "../protocol/index.ts";

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
