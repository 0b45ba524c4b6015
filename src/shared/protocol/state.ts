import { z } from "zod";

/** Names a value of an agent's state. */
export const stateKey = z
  .string()
  .min(1)
  .max(200)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
  .regex(/^[^\u0000-\u001f\u007f]+$/, "A key has no control characters.");

/** Values by their keys, as they are to be kept. */
export const stateValues = z.record(stateKey, z.unknown());

/** Who reads a value, and in which form it is. */
export const stateSchemaSchema = z.object({
  name: z.string().min(1).max(200).describe("Whose value it is"),
  version: z.number().int().min(1).describe("Its form; each change of that has the next number"),
});

/** A key of an agent's state, without its value. */
export const stateKeySchema = z.object({
  key: z.string(),
  schema: stateSchemaSchema.nullable().describe("What the agent said of it; null for nothing"),
  bytes: z.number().int().describe("Length of its JSON"),
  items: z.number().int().nullable().describe("Items of a list; null for all else"),
});

/** An agent's state without its values. */
export const stateSummarySchema = z.object({
  version: z.string().nullable().describe("Names its content; null for a state without keys"),
  keys: z.array(stateKeySchema),
});
export type StateSummary = z.infer<typeof stateSummarySchema>;
