import { z } from "zod";
import { CONTRACT, type OperationContract } from "../../src/shared/protocol/index.ts";

/** What is told of one field of an operation's input; the limits are those of its schema. */
interface DescribedField {
  words: string;
  type: string;
  choices?: readonly string[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  whenFalse?: string;
  whenNull?: string;
}

type Schema = Record<string, unknown> & {
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
};

/**
 * Returns src/shared/protocol/generated/described.ts: what the contract says of its operations as plain data, so
 * that the command line, which starts for every step of an agent, need not load the schemas. Each is made
 * when it is asked for, because a start asks for one.
 */
export function renderDescribed(): string {
  const operations = Object.entries<OperationContract>(CONTRACT).map(describeOperation);
  return `// Generated from the contract by npm run docs. Do not edit.
export const DESCRIBED = {
${operations.join("\n")}
};
`;
}

/** A line for each operation, as a row of a table. */
function describeOperation([name, contract]: [string, OperationContract]): string {
  const { summary, description, errors = [], examples = [] } = contract;
  const said = { summary, description, errors, examples, fields: fieldsOf(contract.input) };
  return `  get ${JSON.stringify(name)}() { return ${JSON.stringify(said)} as const; },`;
}

function fieldsOf(input: z.ZodType): Record<string, DescribedField> {
  const { properties = {} } = z.toJSONSchema(input, { io: "input" }) as Schema;
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, describeField(field)]),
  );
}

function describeField(field: Schema): DescribedField {
  const bare = field.anyOf?.find(({ type }) => type !== "null") ?? field;
  const choices = bare["enum"] ?? bare.items?.["enum"];
  const told = { ...bare, ...field };
  const kept = ["default", "minLength", "maxLength", "whenFalse", "whenNull"] as const;
  return {
    words: String(field["description"] ?? bare["description"] ?? ""),
    type: String(bare["type"]),
    ...(choices === undefined ? {} : { choices: choices as string[] }),
    ...Object.fromEntries(kept.filter((key) => key in told).map((key) => [key, told[key]])),
    ...boundsOf(bare),
  };
}

/** A bound that every integer has says nothing. */
function boundsOf({ minimum, maximum }: Schema): Pick<DescribedField, "minimum" | "maximum"> {
  const isBound = (value: unknown) =>
    typeof value === "number" && Math.abs(value) < Number.MAX_SAFE_INTEGER;
  return {
    ...(isBound(minimum) ? { minimum: minimum as number } : {}),
    ...(isBound(maximum) ? { maximum: maximum as number } : {}),
  };
}
