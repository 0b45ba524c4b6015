import { z } from "zod";

/** What was meant, and where that was found; of commands and operations, what made the change. */
export const intentSchema = z.object({
  text: z.string(),
  source: z
    .enum(["given", "command", "operation", "agent", "git"])
    .describe(
      "Said with the checkpoint, a command that was run, a restore of files, revert, undo or merge, the agent, or a commit made since",
    ),
  exitCode: z.number().int().optional().describe("Of a command that has ended"),
  failedAfter: z
    .object({ text: z.string(), exitCode: z.number().int() })
    .optional()
    .describe("The last command, where it failed and another one made the change"),
});
export type Intent = z.infer<typeof intentSchema>;
export type IntentSource = Intent["source"];
