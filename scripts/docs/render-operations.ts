import { z } from "zod";
import { CONTRACT, type OperationContract } from "../../src/shared/protocol/index.ts";
import { code, GENERATED_NOTE, table } from "./markdown.ts";

/** The part of a JSON Schema that the contract uses. */
interface Schema {
  type?: string | string[];
  format?: string;
  description?: string;
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  minimum?: number;
  maximum?: number;
  maxLength?: number;
}

const EFFECTS = {
  read: "reads",
  write: "adds or changes",
  destroy: "may end processes or remove data",
} as const;

/** Returns docs/operations.md from the contract of every operation. */
export function renderOperations(): string {
  const operations = Object.entries<OperationContract>(CONTRACT);
  const overview = operations.map(([name, { summary, effect, stream }]) => [
    `[${code(name)}](#${name.replaceAll(".", "")})`,
    summary,
    EFFECTS[effect],
    stream ? "yes" : "no",
  ]);
  return `${GENERATED_NOTE}

# Operations

Every operation of Waypoint, as the daemon takes it and as \`--json\` prints its result. The command
line and the SDK offer the same operations. [PROTOCOL.md](PROTOCOL.md) tells how they travel and
[errors.md](errors.md) how they fail; besides the errors named here each may end with
\`USAGE_INVALID\`, \`CANCELLED\` or \`INTERNAL\`. A last [bracket] says what holds where a field is not
given. Fields may be added to results; none is renamed.

${table(["Operation", "Summary", "Effect", "Streams"], overview)}

${operations.map(renderOperation).join("\n\n")}
`;
}

function renderOperation([name, contract]: [string, OperationContract]): string {
  const input = z.toJSONSchema(contract.input, { io: "input" }) as Schema;
  const output = z.toJSONSchema(contract.output, { io: "output" }) as Schema;
  const stream = contract.stream ? " It exchanges bytes while it runs; the result comes last." : "";
  return `## ${name}

${[`${contract.summary}.`, contract.description ?? ""].join(" ").trim()}

Effect: ${EFFECTS[contract.effect]}.${stream}${errorsOf(contract)}

Input:

${renderInput(input)}

Result:

${table(["Field", "Type", "Meaning"], fieldRows(output, ""))}`;
}

function errorsOf({ errors = [] }: OperationContract): string {
  return errors.length === 0 ? "" : ` Errors: ${errors.map(code).join(", ")}.`;
}

function renderInput(schema: Schema): string {
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) => [
    code(name),
    typeOf(field),
    defaultOf(field, schema.required?.includes(name) ?? false),
    field.description ?? "",
  ]);
  return rows.length === 0 ? "none" : table(["Field", "Type", "Default", "Meaning"], rows);
}

function defaultOf(field: Schema, isRequired: boolean): string {
  if (isRequired) return "required";
  return field.default === undefined ? "–" : code(JSON.stringify(field.default));
}

/** One row per field; the fields of objects and of lists of objects follow, with their path. */
function fieldRows(schema: Schema, prefix: string): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const inner = innerObject(field);
    const isList = withoutNull(field).type === "array";
    return [
      [code(path), typeOf(field), field.description ?? ""],
      ...(inner === null ? [] : fieldRows(inner, isList ? `${path}[].` : `${path}.`)),
    ];
  });
}

function innerObject(field: Schema): Schema | null {
  const bare = withoutNull(field);
  const inner = bare.type === "array" ? bare.items : bare;
  return inner?.properties === undefined ? null : inner;
}

function withoutNull(field: Schema): Schema {
  return field.anyOf?.find((option) => option.type !== "null") ?? field;
}

function typeOf(field: Schema): string {
  if (field.anyOf !== undefined) return field.anyOf.map(typeOf).join(" or ");
  if (field.enum !== undefined) {
    return field.enum.map((value) => code(String(value))).join(", ");
  }
  if (field.const !== undefined) return code(String(field.const));
  if (field.type === "array")
    return `list of ${field.items === undefined ? "any" : typeOf(field.items)}`;
  if (field.type === "object" && typeof field.additionalProperties === "object") {
    return `object of ${typeOf(field.additionalProperties)}`;
  }
  const type = Array.isArray(field.type) ? field.type.join(" or ") : (field.type ?? "any");
  const format = field.format === undefined ? "" : ` (${field.format})`;
  return `${type}${format}${rangeOf(field)}`;
}

function rangeOf({ type, minimum, maximum, maxLength }: Schema): string {
  if (maxLength !== undefined) return `, at most ${maxLength} characters`;
  if (type !== "integer" || maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER) return "";
  return minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER
    ? `, at most ${maximum}`
    : `, ${minimum} to ${maximum}`;
}
