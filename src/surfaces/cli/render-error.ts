import { existsSync } from "node:fs";
import {
  ERROR_REGISTRY,
  EXIT_CODE_UNKNOWN_ERROR,
  type WaypointError,
} from "../../shared/errors/index.ts";
import { printable, printableLines } from "./text/printable.ts";
import type { Paint } from "./text/style.ts";

/** Facts of an error's detail that explain it to a person, most telling first. */
const CAUSE_FIELDS = ["criuErrors", "reason", "logExcerpt", "stderr", "cleanupFailure"];

/** Lines of a cause that a person is shown; the first ones are the nearest to what went wrong. */
const CAUSE_LINES_MAX = 2;

/** The end of a log is a story of several lines, its last ones the most telling. */
const LOG_LINES_MAX = 12;

/** Returns the lines that tell a person what went wrong, why, and what to do. */
export function renderError(error: WaypointError, paint: Paint): string[] {
  // Whoever answered no got what they wanted.
  if (error.detail["answered"] === "no") return [printable(error.message)];
  const lines = [`${paint(["red", "bold"], "Error:")} ${printable(error.message)}`];
  const cause = findCause(error);
  if (cause.length > 0) lines.push(`${paint("bold", "Cause:")} ${indent(cause)}`);
  if (error.hint !== null) {
    lines.push(`${paint("bold", "Hint:")}  ${indent(error.hint.trim().split("\n"))}`);
  }
  return lines;
}

/** Returns the exit code of a failed command. */
export function exitCodeOf(error: WaypointError): number {
  if ("unknownCode" in error.detail) return EXIT_CODE_UNKNOWN_ERROR;
  return ERROR_REGISTRY[error.code].exitCode;
}

/** Returns what explains the error beyond what its message and hint say already. */
function findCause({ detail, message, hint, cause }: WaypointError): string[] {
  for (const field of CAUSE_FIELDS) {
    const value = detail[field];
    const text = (Array.isArray(value) ? value.join("\n") : String(value ?? "")).trim();
    const isNew = text !== "" && text !== "unknown" && !message.includes(text) && text !== hint;
    if (!isNew) continue;
    const lines = text.split("\n");
    const shown = field === "logExcerpt" ? lines.slice(-LOG_LINES_MAX) : shorten(lines);
    return [...shown, ...logPathOf(detail["logPath"])];
  }
  // Who has cancelled a command knows why.
  const isTold = cause instanceof Error && cause.name !== "AbortError";
  const isForeign = isTold && !message.includes(cause.message);
  return isForeign ? shorten(cause.message.trim().split("\n")) : [];
}

function shorten(lines: readonly string[]): string[] {
  const distinct = [...new Set(lines.filter((line) => line.trim() !== ""))];
  const moreCount = distinct.length - CAUSE_LINES_MAX;
  const more = moreCount > 0 ? [`(${moreCount} more in detail with --json)`] : [];
  return [...distinct.slice(0, CAUSE_LINES_MAX), ...more];
}

/** A failed dump takes its files with it, and a log that is not there helps nobody. */
function logPathOf(logPath: unknown): string[] {
  return typeof logPath === "string" && existsSync(logPath) ? [`(log: ${logPath})`] : [];
}

function indent(lines: readonly string[]): string {
  return printableLines(lines.join("\n"))
    .split("\n")
    .join(`\n${" ".repeat(7)}`);
}
