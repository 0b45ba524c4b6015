import { z } from "zod";
import { momentRef, sessionRef } from "./inputs.ts";
import { describe } from "./operation-contract.ts";
import { stateKey, stateKeySchema, stateSchemaSchema, stateSummarySchema } from "./state.ts";

/** The operations on what an agent has beside its machine. */
export const STATE_CONTRACT = {
  state: describe({
    summary: "Show an agent's state at any moment, or one value of it",
    description:
      "A conversation, a position, tasks and whatever else was handed over. It is captured " +
      "with the machine, and comes back with a restore or in a fork.",
    errors: [
      ...(["SESSION_NOT_FOUND", "CHECKPOINT_NOT_FOUND", "REFERENCE_AMBIGUOUS"] as const),
      ...(["STATE_KEY_NOT_FOUND", "STORE_FAILED"] as const),
    ],
    examples: [
      ["waypoint state web", "The keys of web's state now"],
      ["waypoint state green conversation", "The value of then, as JSON"],
      ["waypoint state web --set position='{\"step\":3}'", "A value as JSON"],
      ["waypoint state web --append conversation=@new.json", "Items for the end of a list"],
    ],
    effect: "read",
    stream: true,
    input: z.strictObject({
      moment: momentRef,
      key: stateKey.optional().describe("Print this value [list the keys]"),
    }),
    output: stateSummarySchema.extend({
      value: stateKeySchema.nullable().describe("What was printed; null where no key was named"),
    }),
  }),
  "state.set": describe({
    summary: "Change an agent's state",
    description: "All of it happens or nothing.",
    errors: [
      ...(["SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS", "STATE_CONFLICT"] as const),
      ...(["STATE_TOO_LARGE", "STORE_FULL", "STORE_FAILED"] as const),
    ],
    effect: "write",
    input: z.strictObject({
      session: sessionRef,
      set: z
        .record(
          stateKey,
          z.strictObject({ value: z.unknown(), schema: stateSchemaSchema.nullable().optional() }),
        )
        .default({})
        .describe("Values in place of those that are there"),
      append: z
        .record(stateKey, z.array(z.unknown()))
        .default({})
        .describe("Items for the ends of lists; a list that is not there begins with them"),
      remove: z.array(stateKey).max(1000).default([]).describe("Keys that go"),
      ifVersion: z
        .string()
        .max(100)
        .nullable()
        .optional()
        .describe("Only where the state still has this version; none for one without keys"),
    }),
    output: stateSummarySchema,
  }),
} as const;
