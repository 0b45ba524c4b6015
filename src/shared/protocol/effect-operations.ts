import { z } from "zod";
import { instantSchema } from "./ids.ts";
import { checkpointRef, sessionRef } from "./inputs.ts";
import { describe } from "./operation-contract.ts";

const key = z.string().min(1).max(300).describe("Names the effect");
const owner = z
  .strictObject({ pid: z.number().int().positive(), startTicks: z.number().int() })
  .optional()
  .describe("Process that does it: as long as it lives, nobody else does");
const outcome = z.unknown().optional().describe("What came of it, as JSON");

/** Something done to the outside world, as it is told. */
export const effectSchema = z.object({
  key: z.string(),
  what: z.string().describe("What it is, in the agent's words"),
  state: z
    .enum(["running", "unknown", "done", "failed", "compensated"])
    .describe("unknown: it was begun, and nobody knows what became of it; compensated: taken back"),
  irreversible: z.boolean().describe("Nothing takes it back"),
  compensate: z.string().nullable().describe("Command that takes it back; null for none"),
  compensatedByProgram: z.boolean().describe("A function of the agent's program takes it back"),
  compensationError: z.string().nullable().describe("Why the last try to take it back failed"),
  attempts: z.number().int().describe("How often it was begun"),
  startedAt: instantSchema,
  endedAt: instantSchema.nullable(),
  outcome: z.unknown().describe("What came of it; null where nothing was said"),
  error: z.string().nullable().describe("Why it failed"),
});
export type Effect = z.infer<typeof effectSchema>;

const errors = ["SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS", "STORE_FULL"] as const;

/** The operations on what an agent does outside, which no restore takes back. */
export const EFFECT_CONTRACT = {
  "effect.list": describe({
    summary: "List what was done outside, which no restore takes back",
    errors: ["SESSION_NOT_FOUND", "CHECKPOINT_NOT_FOUND", "REFERENCE_AMBIGUOUS"],
    examples: [
      ["waypoint effects list web", "All that web's agent has told of"],
      ["waypoint effects list web --since green", "What a restore to green would leave done"],
    ],
    effect: "read",
    input: z.strictObject({
      session: sessionRef,
      since: checkpointRef.optional().describe("Only what began or ended after this checkpoint"),
    }),
    output: z.object({ effects: z.array(effectSchema) }),
  }),
  "effect.begin": describe({
    summary: "Write down that something is about to be done outside",
    description: "What was done is not to be done again: its outcome is the answer then.",
    errors: [...errors, "EFFECT_CONFLICT", "EFFECT_RUNNING", "EFFECT_UNKNOWN"],
    effect: "write",
    input: z.strictObject({
      session: sessionRef,
      key,
      inputHash: z.string().min(1).max(100).describe("Hash of what it is done with"),
      what: z.string().max(2000).describe("What it is, for people"),
      irreversible: z.boolean().default(false).describe("Nothing takes it back"),
      compensate: z.string().min(1).max(10_000).optional().describe("Command that takes it back"),
      compensatedByProgram: z
        .boolean()
        .default(false)
        .describe("A function of the agent's program takes it back"),
      owner,
    }),
    output: z.object({
      attempt: z.number().int().nullable().describe("To do; null where it was done"),
      outcome: z.unknown().describe("Of one that was done"),
    }),
  }),
  "effect.end": describe({
    summary: "Write down what became of something done outside",
    errors: [...errors, "EFFECT_NOT_FOUND"],
    effect: "write",
    input: z.strictObject({
      session: sessionRef,
      key,
      attempt: z.number().int().positive().describe("What the beginning answered"),
      outcome,
      error: z.string().max(10_000).optional().describe("Why it failed: it was not done then"),
    }),
    output: effectSchema,
  }),
  "effect.compensate": describe({
    summary: "Write down that an effect is being taken back, or was",
    errors: [...errors, "EFFECT_NOT_FOUND", "EFFECT_RUNNING", "EFFECT_UNKNOWN"],
    effect: "write",
    input: z.strictObject({
      session: sessionRef,
      key,
      stage: z.enum(["begin", "done", "failed"]).describe("How far it has come"),
      owner,
      error: z.string().max(10_000).optional().describe("Why it failed"),
    }),
    output: effectSchema,
  }),
  "effect.settle": describe({
    summary: "Say what became of an effect of which nobody knows",
    errors: [...errors, "EFFECT_NOT_FOUND", "EFFECT_RUNNING"],
    examples: [
      ["waypoint effects settle web charge-17 done --outcome '{\"id\":3}'", "It was done"],
      ["waypoint effects settle web charge-17 not-done", "The next run does it"],
    ],
    effect: "write",
    input: z.strictObject({
      session: sessionRef,
      key,
      found: z.enum(["done", "not-done"]).describe("What became of it"),
      outcome,
    }),
    output: effectSchema,
  }),
} as const;
