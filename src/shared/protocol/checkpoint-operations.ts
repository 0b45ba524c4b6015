import { z } from "zod";
import { checkpointSchema } from "./checkpoint.ts";
import { instantSchema } from "./ids.ts";
import { checkpointRef, pidsInput, sessionRef, withoutBinds } from "./inputs.ts";
import { describe } from "./operation-contract.ts";
import { bindsLeftOut } from "./outputs.ts";
import { sessionSchema, standbyPolicySchema } from "./session.ts";
import { stateValues } from "./state.ts";
import { checkpointVerifyInput, verifyErrorSchema } from "./verification.ts";

/** Labels of one checkpoint. */
export const TAGS_MAX = 20;

/** The operations that make checkpoints and start sessions from them. */
export const CHECKPOINT_CONTRACT = {
  checkpoint: describe({
    summary: "Capture a session",
    description:
      "Captures processes, memory, terminals and files; what runs goes on, and " +
      "docs/limits.md says what can be noticed of it.",
    errors: [
      ...(["SESSION_NOT_FOUND", "NAME_IN_USE", "FORK_REFUSED", "CRIU_DUMP_FAILED"] as const),
      ...(["STATE_TOO_LARGE", "STORE_FULL"] as const),
    ],
    examples: [
      ['waypoint checkpoint web -m "before the upgrade"', "A moment to come back to"],
      ["waypoint checkpoint web --name green --durable", "Named, and safe on disk"],
      ['waypoint checkpoint web --verify "npm test"', "With the verdict of its tests"],
    ],
    effect: "write",
    stream: true,
    input: z.strictObject({
      session: sessionRef,
      intent: z.string().max(10_000).optional().describe("What this moment is, in your words"),
      agentSaid: z
        .string()
        .max(10_000)
        .optional()
        .describe("The last message or tool call of the agent that works there"),
      state: stateValues
        .optional()
        .describe("Values of the agent's state, kept first: what is captured has them"),
      name: z.string().optional().describe("Name to find it by"),
      filesOnly: z.boolean().default(false).describe("Capture the files alone"),
      ifChanged: z
        .boolean()
        .default(false)
        .describe("Take none where nothing has changed since the last one, which answers then"),
      durable: z
        .boolean()
        .default(false)
        .describe("Answer only when it is in the store, which on a disk survives power loss"),
      ...checkpointVerifyInput,
    }),
    output: checkpointSchema.extend({
      taken: z
        .boolean()
        .describe("false: nothing had changed since it, so that none was taken (`ifChanged`)"),
      verifyError: verifyErrorSchema,
    }),
  }),
  name: describe({
    summary: "Give a checkpoint a name, another one, or none",
    errors: ["CHECKPOINT_NOT_FOUND", "REFERENCE_AMBIGUOUS", "NAME_INVALID", "NAME_IN_USE"],
    examples: [
      ["waypoint name web green", "Where web stands is green from now on"],
      ["waypoint name green", "It has no name any more"],
    ],
    effect: "write",
    input: z.strictObject({
      checkpoint: checkpointRef,
      name: z.string().optional().describe("Name to find it by [none: it loses its name]"),
    }),
    output: checkpointSchema,
  }),
  describe: describe({
    summary: "Say afterwards what a checkpoint is",
    description: "In place of what was said when it was taken.",
    errors: ["CHECKPOINT_NOT_FOUND", "REFERENCE_AMBIGUOUS"],
    examples: [
      ['waypoint describe web "the last one that worked"', "As with -m when it was taken"],
    ],
    effect: "write",
    input: z.strictObject({
      checkpoint: checkpointRef,
      intent: z.string().max(10_000).describe("What that moment is, in your words"),
    }),
    output: checkpointSchema,
  }),
  tag: describe({
    summary: "Give a checkpoint labels that others may have, too, or take them away",
    errors: ["CHECKPOINT_NOT_FOUND", "REFERENCE_AMBIGUOUS", "NAME_INVALID"],
    examples: [
      ["waypoint tag web@ good demo", "`log --tag good` finds it"],
      ["waypoint tag green --remove demo", "One label less"],
    ],
    effect: "write",
    input: z.strictObject({
      checkpoint: checkpointRef,
      add: z.array(z.string()).max(TAGS_MAX).default([]).describe("Labels to give"),
      remove: z.array(z.string()).max(TAGS_MAX).default([]).describe("Labels to take away"),
    }),
    output: checkpointSchema,
  }),
  fork: describe({
    summary: "Start new sessions from a checkpoint",
    description: "The session that was captured is not touched.",
    errors: [
      "CHECKPOINT_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "NAME_IN_USE",
      "FORK_REFUSED",
      "BIND_SOURCE_MISSING",
      "CRIU_RESTORE_FAILED",
    ],
    examples: [
      ["waypoint fork web --name try", "One new session, try, from where web stands"],
      ["waypoint fork green -n 8 --name try", "Eight: try-1 to try-8"],
      [
        "waypoint fork green -n 16 --throwaway",
        "Sixteen that take only the memory that they touch",
      ],
    ],
    effect: "write",
    input: z.strictObject({
      checkpoint: checkpointRef,
      count: z.number().int().min(1).max(256).default(1).describe("How many"),
      name: z.string().optional().describe("Name of the fork; with a count, NAME-1, NAME-2, …"),
      pids: pidsInput.meta({
        description: "Processes and threads at most [its origin's]",
        whenNull: "unlimited",
      }),
      withoutBinds,
      effects: z
        .enum(["replay", "own"])
        .default("replay")
        .describe("What was done outside: replay has its outcomes; own: it is done anew"),
      throwaway: z
        .boolean()
        .default(false)
        .describe("Bring only the memory that they touch: they are removed soon"),
    }),
    output: z.object({
      sessions: z.array(
        z.object({ id: z.string(), name: z.string(), pid: z.number().int().nullable() }),
      ),
      checkpoint: z.string().describe("Id of the checkpoint that they come from"),
      takenAt: instantSchema.describe("When that was taken: what came later is not in them"),
      readyMs: z.number().describe("Until all of them answered"),
      bindsLeftOut,
    }),
  }),
  keep: describe({
    summary: "Have a throw-away fork get all of its memory, as any other session does",
    description:
      "It comes step by step while nobody waits and memory is there. Of a session that is no such fork " +
      "nothing changes.",
    errors: ["SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS", "SESSION_ENDED", "SESSION_UNRESPONSIVE"],
    examples: [["waypoint keep try-3", "This one was good: it goes on"]],
    effect: "write",
    input: z.strictObject({ session: sessionRef }),
    output: z.object({
      session: sessionSchema,
      leftBytes: z.number().int().describe("Memory that is still to come"),
    }),
  }),
  standby: describe({
    summary: "Show or choose what is kept ready to restore and fork a session at once",
    description:
      "A standby is a fork made in advance that stands still. `head` keeps one of " +
      "where the session stands and one of what an undo goes back to. A number keeps so " +
      "many of its newest checkpoints, `off` none. All stay within a budget of memory.",
    errors: ["SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS"],
    examples: [
      ["waypoint standby web", "What is ready"],
      ["waypoint standby web 3", "Keep its three newest checkpoints ready"],
      ["waypoint standby web off", "Keep nothing ready"],
    ],
    effect: "write",
    input: z.strictObject({
      session: sessionRef,
      policy: standbyPolicySchema
        .optional()
        .describe("off, head, or a number of checkpoints from 1 to 16"),
    }),
    output: z.object({
      session: z.string(),
      policy: z.string(),
      isDefault: z.boolean().describe("Nothing else was chosen for this session"),
      ready: z.array(z.string()).describe("Checkpoints that can be restored or forked at once"),
      reason: z.string().nullable().describe("Why nothing is kept at the moment"),
    }),
  }),
} as const;
