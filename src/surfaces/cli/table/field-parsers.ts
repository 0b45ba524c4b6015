import {
  type Parser,
  parsePositive,
  parseSeconds,
  parseSize,
  parseText,
  parseWhole,
} from "../parse-values.ts";

/** What the contract's schema says of a field: the daemon checks it in its words, this one before. */
export interface FieldLimits {
  type: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  /** Word that is typed for null. */
  whenNull?: string;
}

/** Returns what turns typed text into the value of a field; none where any text is one. */
export function parserOf(field: string, limits: FieldLimits): Parser | undefined {
  const { type, maximum = Number.MAX_SAFE_INTEGER, whenNull } = limits;
  if (field.endsWith("Bytes")) return parseSize;
  if (field.endsWith("Ms")) return (text) => parseSeconds(text, maximum / 1000);
  if (type === "number") return parsePositive;
  if (type === "integer") {
    return (text) => (text === whenNull ? null : parseWhole(text, maximum));
  }
  const isFree = limits.minLength === undefined && limits.maxLength === undefined;
  return type !== "string" || isFree ? undefined : (text) => parseText(text, limits);
}
