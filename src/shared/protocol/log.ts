import { z } from "zod";
import { checkpointSchema, operationRecordSchema } from "./checkpoint.ts";
import { decisionSchema } from "./decision-operations.ts";
import { sessionSchema } from "./session.ts";

/** What `log` answers: the timeline, or the part of it that was asked for. */
export const logOutput = z.object({
  checkpoints: z.array(checkpointSchema),
  operations: z
    .array(operationRecordSchema)
    .describe("None where checkpoints are chosen by what they tell"),
  decisions: z
    .array(decisionSchema)
    .describe("What was decided, by its time: where it was asked for, or has the text that was"),
  sessions: z.array(sessionSchema),
  elided: z
    .array(
      z.object({
        checkpoint: z.string().describe("One that is shown, but not its parent"),
        ancestor: z.string().nullable().describe("The nearest before it that is shown"),
        count: z.number().int().describe("How many lie between the two, or before it"),
      }),
    )
    .describe("Where checkpoints are left out of the tree"),
  notShown: z.number().int().describe("Checkpoints of the timeline that were left out"),
  notSearched: z
    .number()
    .int()
    .describe("Of these, checkpoints whose story is not ready or could not be read"),
});
