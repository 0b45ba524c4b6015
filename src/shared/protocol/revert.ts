import { z } from "zod";
import { fileTypeSchema } from "./file-change.ts";
import { partsSchema } from "./restore-parts.ts";
import { holderSchema } from "./restore-plan.ts";

/** A path that was changed between the two checkpoints, and changed again since. */
export const conflictSchema = z.object({
  path: z.string(),
  between: z.enum(["added", "modified", "deleted"]).describe("What happened between the two"),
  since: z.enum(["added", "modified", "deleted"]).describe("What happened after that"),
});
export type Conflict = z.infer<typeof conflictSchema>;

/** Texts that were changed again since, of which only the lines of then go back. */
export const joinedFields = {
  joined: z
    .array(z.string())
    .describe(
      "Texts of which the lines go back, and lines that were changed since stay; the first",
    ),
  joinedCount: z.number().int(),
};

/** What a revert would do. */
export const revertPlanSchema = z.object({
  session: z.string(),
  sessionName: z.string(),
  from: z.string(),
  to: z.string(),
  parts: partsSchema,
  files: z
    .array(
      z.object({
        path: z.string(),
        type: fileTypeSchema,
        change: z.enum(["added", "modified", "deleted"]).describe("What the revert does"),
      }),
    )
    .describe("The first of them"),
  filesCount: z.number().int(),
  ...joinedFields,
  conflicts: z.array(conflictSchema).describe("The first of them"),
  conflictsCount: z.number().int(),
  heldOpen: z.array(holderSchema),
  refused: z.string().nullable().describe("Why it would be refused as it was asked for"),
});
export type RevertPlan = z.infer<typeof revertPlanSchema>;
