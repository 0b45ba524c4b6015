import { z } from "zod";
import { checkpointSchema } from "./checkpoint.ts";
import { checkpointRef, diffInput, logInput } from "./inputs.ts";
import { logOutput } from "./log.ts";
import { describe } from "./operation-contract.ts";
import { bindSchema, limitsSchema } from "./session.ts";
import { changesSchema, storySchema } from "./story.ts";
import { fullVerificationSchema } from "./verification.ts";

/** The operations that read what checkpoints tell. */
export const STORY_CONTRACT = {
  log: describe({
    summary: "Show the timeline",
    effect: "read",
    input: logInput,
    output: logOutput,
  }),
  show: describe({
    summary: "Show one checkpoint in full",
    effect: "read",
    input: z.strictObject({ checkpoint: checkpointRef }),
    output: checkpointSchema.extend({
      changes: changesSchema.describe("What differs from the parent"),
      story: storySchema
        .omit({ checkpoint: true, changes: true })
        .describe("What it tells besides the changes"),
      verifications: z.array(fullVerificationSchema).describe("All that are kept, newest first"),
      processes: z
        .array(z.object({ pid: z.number().int(), command: z.string() }))
        .nullable()
        .describe("What it would bring back; null when the images of that cannot be read"),
      host: z.object({ kernel: z.string(), criu: z.string(), arch: z.string() }),
      binds: z.array(bindSchema).describe("Directories of the host that it does not hold"),
      limits: limitsSchema.describe("What a session that is made from it may use"),
      diskPath: z
        .string()
        .describe("Its directory in the daemon's mounts, which others may not see; see browse"),
    }),
  }),
  diff: describe({
    summary: "Show what differs between two moments",
    effect: "read",
    input: diffInput,
    output: changesSchema.extend({
      from: z.string().describe("Id of the checkpoint, or name of the session as it is now"),
      to: z.string(),
    }),
  }),
} as const;
