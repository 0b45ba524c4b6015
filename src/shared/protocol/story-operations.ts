import { z } from "zod";
import { checkpointSchema } from "./checkpoint.ts";
import { contactsSchema } from "./contacts.ts";
import { decisionSchema } from "./decision-operations.ts";
import { effectSchema } from "./effect-operations.ts";
import { checkpointRef, diffInput, logInput } from "./inputs.ts";
import { logOutput } from "./log.ts";
import { describe } from "./operation-contract.ts";
import { bindSchema, limitsSchema } from "./session.ts";
import { stateSummarySchema } from "./state.ts";
import { changesSchema, storySchema } from "./story.ts";
import { fullVerificationSchema } from "./verification.ts";

/** The operations that read what checkpoints tell. */
export const STORY_CONTRACT = {
  log: describe({
    summary: "Show the timeline, newest last",
    description:
      "With several filters, checkpoints that fit all are shown; what is left out is said. " +
      "That nothing fits is no failure.",
    errors: ["SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS"],
    examples: [
      ["waypoint log", "Every session and its branches"],
      ["waypoint log web -n 10", "The ten newest checkpoints of web"],
      ["waypoint log web --path /etc --since yesterday", "Where something below /etc changed"],
      ["waypoint log --path '*.sql' --verified failing", "Failed, after SQL files had changed"],
      ["waypoint log --grep 'out of memory'", "Where a command printed that"],
      ["waypoint log web --decisions", "With why it was done, also on branches that were left"],
    ],
    effect: "read",
    input: logInput,
    output: logOutput,
  }),
  show: describe({
    summary: "Show one checkpoint in full",
    description:
      "What was meant, what changed since its parent, the commands with what they printed, " +
      "the verification, processes and screen. What is unknown is said with the reason.",
    errors: ["CHECKPOINT_NOT_FOUND", "REFERENCE_AMBIGUOUS"],
    examples: [
      ["waypoint show web", "The checkpoint where web stands"],
      ["waypoint show web --section files,packages", "Nothing but these, and all of them"],
      ["waypoint show web@~1", "The one before"],
      ["waypoint show web --all", "Each file, of caches and of .git, too"],
    ],
    effect: "read",
    input: z.strictObject({
      checkpoint: checkpointRef,
      all: z
        .boolean()
        .default(false)
        .describe("Every file by itself, caches, git's own and editors' files, too"),
    }),
    output: checkpointSchema.extend({
      changes: changesSchema.describe("What differs from the parent"),
      story: storySchema
        .omit({ checkpoint: true, changes: true })
        .describe("What it tells besides the changes"),
      decisions: z
        .array(decisionSchema.omit({ sessionName: true, isLeft: true }))
        .describe("What was decided between its parent and it"),
      effects: z
        .array(effectSchema)
        .describe("What its agent did outside between its parent and it, as it is now; the last"),
      effectsCount: z.number().int(),
      contacts: contactsSchema.describe("Whom it talked to between its parent and it"),
      allow: z
        .array(z.string())
        .nullable()
        .describe("What it may reach, and nothing else; null: everything"),
      agentState: stateSummarySchema
        .nullable()
        .describe("The agent's state without its values; null where it cannot be read"),
      verifications: z.array(fullVerificationSchema).describe("All that are kept, newest first"),
      processes: z
        .array(z.object({ pid: z.number().int(), command: z.string() }))
        .nullable()
        .describe(
          "What it would bring back, by command line where its story has that, else by name; null where its images cannot be read",
        ),
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
    description:
      "Any two: checkpoints of the same or of different branches, or sessions as they are now. " +
      "One alone is compared with its session as it is now, a session with its last checkpoint.",
    errors: [
      "CHECKPOINT_NOT_FOUND",
      "SESSION_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "CHECKPOINT_INCOMPLETE",
      "STORE_FULL",
    ],
    examples: [
      ["waypoint diff web@~1 web@", "What the last checkpoint of web changed"],
      ["waypoint diff web --stat", "What web changed since its last checkpoint"],
      ["waypoint diff green", "What its session changed since the one named green"],
      ["waypoint diff green web@ /etc", "Only below /etc"],
      ["waypoint diff green web --section packages,ports", "Packages and ports alone"],
    ],
    effect: "read",
    input: diffInput,
    output: changesSchema.extend({
      from: z.string().describe("Id of the checkpoint, or name of the session as it is now"),
      to: z.string(),
    }),
  }),
} as const;
