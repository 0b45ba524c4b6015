import { z } from "zod";
import { bindSchema } from "./session.ts";

export const bindsLeftOut = z
  .array(bindSchema)
  .describe("Binds whose source is gone: empty inside");

/** What `exec` answers. */
export const execOutput = z.object({
  exitCode: z.number().int(),
  signal: z.number().int().nullable().describe("Signal that ended the command, if one did"),
  timedOut: z.boolean(),
  shellEnded: z.boolean().describe("It ended the live shell too, and a fresh one was started"),
  durationMs: z.number(),
  stdout: z.string(),
  stderr: z.string(),
  truncated: z.boolean().describe("stdout or stderr here is shorter than what was printed"),
});
