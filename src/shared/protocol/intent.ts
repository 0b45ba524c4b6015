import { z } from "zod";

/** What was meant, and where that was found. */
export const intentSchema = z.object({
  text: z.string(),
  source: z
    .enum(["given", "command", "agent", "git"])
    .describe("Said with the checkpoint, the command just run, the agent, or the last commit"),
});
export type Intent = z.infer<typeof intentSchema>;
export type IntentSource = Intent["source"];
