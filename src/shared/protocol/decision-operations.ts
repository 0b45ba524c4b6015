import { z } from "zod";
import { instantSchema } from "./ids.ts";
import { sessionRef } from "./inputs.ts";
import { describe } from "./operation-contract.ts";

const text = z.string().min(1).max(4000);

/** What somebody decided, as it is told. */
export const decisionSchema = z.object({
  id: z.number().int(),
  session: z.string().describe("Id of the session in which it was decided"),
  sessionName: z.string().nullable().describe("null where that was removed"),
  at: instantSchema,
  checkpoint: z.string().nullable().describe("First checkpoint after it; null while there is none"),
  choice: z.string(),
  reason: z.string().nullable(),
  alternatives: z.array(z.string()),
  task: z.string().nullable().describe("Task that was in progress"),
  command: z.string().nullable().describe("Command that was run last"),
  isLeft: z.boolean().describe("It lies on a branch that the session has left"),
});
export type Decision = z.infer<typeof decisionSchema>;

/** The operations on decisions, which no restore takes back. */
export const DECISION_CONTRACT = {
  note: describe({
    summary: "Note a decision, or what was learned: no restore takes it back",
    errors: ["SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS", "STORE_FULL"],
    examples: [
      ['waypoint note web -m "SQLite is too slow" --reason "40 s a run"', "Known on each branch"],
      ['waypoint note web -m "use Redis" --alternative Postgres', "With what was not taken"],
    ],
    effect: "write",
    input: z.strictObject({
      session: sessionRef,
      choice: text.describe("What was decided or learned"),
      reason: text.optional().describe("Why"),
      alternatives: z.array(text).max(20).default([]).describe("What was not taken"),
    }),
    output: decisionSchema,
  }),
  lessons: describe({
    summary: "Show what was decided on branches that were left",
    description: "So that the same dead end is not walked twice. Of all branches of its tree.",
    errors: ["SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS"],
    examples: [
      ["waypoint lessons web", "After going back: what is known all the same"],
      ["waypoint lessons web --all --grep redis", "On its own branch, too"],
    ],
    effect: "read",
    input: z.strictObject({
      session: sessionRef,
      all: z.boolean().default(false).describe("What is on its own branch, too"),
      grep: z.string().min(1).max(200).optional().describe("Only what has this text in it"),
    }),
    output: z.object({
      decisions: z.array(decisionSchema),
      account: z.string().describe("The same in a few lines, for a conversation; the newest"),
    }),
  }),
} as const;
