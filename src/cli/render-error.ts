import { ERROR_REGISTRY, EXIT_CODE_UNKNOWN_ERROR, type WaypointError } from "../errors/index.ts";
import { printable, printableLines } from "./text/printable.ts";
import type { Paint } from "./text/style.ts";

/** Facts of an error's detail that explain it to a person, most telling first. */
const CAUSE_FIELDS = ["criuErrors", "reason", "logExcerpt", "stderr", "cleanupFailure"];

const CAUSE_LINES_MAX = 12;

/** Returns the lines that tell a person what went wrong, why, and what to do. */
export function renderError(error: WaypointError, paint: Paint): string[] {
  const lines = [`${paint(["red", "bold"], "Error:")} ${printable(error.message)}`];
  const cause = findCause(error);
  if (cause !== null) lines.push(`${paint("bold", "Cause:")} ${indent(cause)}`);
  if (error.hint !== null) lines.push(`${paint("bold", "Hint:")}  ${indent(error.hint)}`);
  return lines;
}

/** Returns the exit code of a failed command. */
export function exitCodeOf(error: WaypointError): number {
  if ("unknownCode" in error.detail) return EXIT_CODE_UNKNOWN_ERROR;
  return ERROR_REGISTRY[error.code].exitCode;
}

/** Returns what explains the error beyond what its message and hint say already. */
function findCause({ detail, message, hint, cause }: WaypointError): string | null {
  for (const field of CAUSE_FIELDS) {
    const value = detail[field];
    const text = (Array.isArray(value) ? value.join("\n") : String(value ?? "")).trim();
    const isNew = text !== "" && text !== "unknown" && !message.includes(text) && text !== hint;
    if (isNew) return withLogPath(text, detail["logPath"]);
  }
  const isForeign = cause instanceof Error && !message.includes(cause.message);
  return isForeign ? cause.message : null;
}

function withLogPath(text: string, logPath: unknown): string {
  return typeof logPath === "string" ? `${text}   (${logPath})` : text;
}

function indent(text: string): string {
  const lines = printableLines(text.trim()).split("\n");
  return lines.slice(-CAUSE_LINES_MAX).join(`\n${" ".repeat(7)}`);
}
