import { z } from "zod";
import { AUTO_POLICY_WORDS, parseAutoPolicy } from "./auto-policy.ts";
import { instantSchema } from "./ids.ts";

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
