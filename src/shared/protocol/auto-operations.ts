import { z } from "zod";
import { AUTO_POLICY_WORDS, parseAutoPolicy } from "./auto-policy.ts";
import { instantSchema, referenceSchema } from "./ids.ts";
import { describe } from "./operation-contract.ts";

/** What an automatic checkpoint was taken for. */
export const autoCauseSchema = z.enum(["command", "edit", "task", "every"]);
export type AutoCause = z.infer<typeof autoCauseSchema>;

/** When a session is captured by itself, as it is written. */
export const autoPolicySchema = z
  .string()
  .max(200)
  .refine((text) => parseAutoPolicy(text) !== null, `Give ${AUTO_POLICY_WORDS}`)
  .transform((text) => parseAutoPolicy(text)?.text ?? text);

/** What is known of a session's automatic checkpoints. */
export const autoStateSchema = z.object({
  policy: z.string(),
  isDefault: z.boolean().describe("Nothing else was chosen for this session"),
  pausedSince: instantSchema.nullable(),
  failure: z
    .object({ at: instantSchema, message: z.string() })
    .nullable()
    .describe("Why the last one could not be taken; null once one was"),
});
export type AutoState = z.infer<typeof autoStateSchema>;

/** The operation on a session's automatic checkpoints. */
export const AUTO_CONTRACT = {
  auto: describe({
    summary: "Show, choose or pause the automatic checkpoints of a session",
    effect: "write",
    input: z.strictObject({
      session: referenceSchema.describe("Session: its name, id or a unique prefix of the id"),
      policy: autoPolicySchema
        .optional()
        .describe("When to capture it: manual, hybrid, command, edit, task, every=5m"),
      paused: z.boolean().optional().describe("Take none until it is false again"),
      taskDone: z
        .string()
        .min(1)
        .max(10_000)
        .optional()
        .describe("A task that has just ended: captured, if the policy says so"),
    }),
    output: autoStateSchema.extend({
      session: z.string(),
      retryAt: instantSchema.nullable().describe("Before this none is tried again after a failure"),
      isScheduled: z.boolean().describe("One is about to be taken, or being taken"),
    }),
  }),
} as const;
