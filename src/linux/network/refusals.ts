import { hasCode, WaypointError } from "../../shared/errors/index.ts";

/** Ids become parts of commands and file names, so their form is checked where they come in. */
export function requireWord(what: string, word: string, form: RegExp): void {
  if (!form.test(word)) throw new WaypointError("INTERNAL", `"${word}" cannot be used as ${what}.`);
}

/** The first step made nothing, because another daemon has the name. */
export function isNumberTaken(error: unknown): boolean {
  if (!hasCode(error, "TOOL_FAILED")) return false;
  return /^link add\b.*: File exists$/.test(String(error.detail["stderr"]));
}

export function noRange(): WaypointError {
  return new WaypointError("HOST_UNSUPPORTED", "No private address range is free on this host.", {
    hint: "Sessions can be created with --net none or --net host.",
  });
}
