import { readdirSync } from "node:fs";
import { z } from "zod";
import { createAuxiliaryTypeStore, printNode, zodToTs } from "zod-to-ts";
import { CONTRACT } from "../../src/shared/protocol/index.ts";

const PROTOCOL = new URL("../../src/shared/protocol/", import.meta.url);
/** How many fields a record has to have to be worth a name of its own. */
const NAMED_FIELDS_MIN = 3;

/**
 * Returns src/shared/protocol/generated/operation-types.ts: the types of the contract's schemas, with what each
 * field is as its comment, so that an editor tells it. What TypeScript infers has no comments.
 */
export async function renderOperationTypes(): Promise<string> {
  const records = (await namedSchemas())
    .flatMap(([name, schema]): [string, string][] =>
      isRecord(schema) ? [[typeName(name), typeText(schema)]] : [],
    )
    .toSorted(([, a], [, b]) => b.length - a.length);
  // A record that has another one in it is longer than that.
  const named = (text: string, own?: string) =>
    records.reduce(
      (all, [name, record]) => (name === own ? all : all.replaceAll(record, name)),
      text,
    );
  const operations = Object.entries(CONTRACT).map(([name, { input, output }]) => {
    const types = [typeText(input, "input"), typeText(output)].map((text) => named(text));
    return `  ${JSON.stringify(name)}: { input: ${types[0]}; output: ${types[1]} };`;
  });
  return `// Generated from the contract by npm run docs. Do not edit.
${records.map(([name, text]) => `export type ${name} = ${named(text, name)};`).join("\n")}

export interface OperationTypes {
${operations.join("\n")}
}
`;
}

/** Returns what the modules of the contract call a schema, `sessionSchema` and so on. */
async function namedSchemas(): Promise<[string, unknown][]> {
  const files = readdirSync(PROTOCOL).filter((file) =>
    /^(?!index|.*\.test)[a-z-]+\.ts$/.test(file),
  );
  const modules = await Promise.all(
    files.toSorted().map((file): Promise<object> => import(new URL(file, PROTOCOL).href)),
  );
  return modules.flatMap(Object.entries).filter(([name]) => name.endsWith("Schema"));
}

function isRecord(schema: unknown): schema is z.ZodObject {
  return schema instanceof z.ZodObject && Object.keys(schema.shape).length >= NAMED_FIELDS_MIN;
}

function typeName(schemaName: string): string {
  const name = schemaName.replace(/Schema$/, "");
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

/** A type in one line. That no other field may be there is what literals are held to anyway. */
function typeText(schema: z.ZodType, io: "input" | "output" = "output"): string {
  const { node } = zodToTs(schema, { auxiliaryTypeStore: createAuxiliaryTypeStore(), io });
  return printNode(node)
    .replaceAll(/\n\s*/g, " ")
    .replaceAll(/ ?\[x: string\]: never;/g, "");
}
