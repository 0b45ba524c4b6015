import { KNOWN_TOKENS } from "../../shared/secrets/index.ts";
import type { JsonValue } from "../objects/index.ts";

/** What stands in a secret's place. */
const REDACTED = "[redacted]";

/** Returns what takes secrets out of values, before anything of them is kept. */
export function redactorOf(
  patterns: readonly RegExp[] = KNOWN_TOKENS,
): (value: JsonValue) => JsonValue {
  const all = patterns.map((each) => new RegExp(each, addGlobal(each.flags)));
  const text = (given: string) => all.reduce((kept, each) => kept.replace(each, REDACTED), given);
  const redact = (value: JsonValue): JsonValue => {
    if (typeof value === "string") return text(value);
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map(redact);
    const entries = Object.entries(value).map(([key, each]) => [text(key), redact(each)] as const);
    return Object.fromEntries(entries);
  };
  return all.length === 0 ? (value) => value : redact;
}

function addGlobal(flags: string): string {
  return flags.includes("g") ? flags : `${flags}g`;
}
