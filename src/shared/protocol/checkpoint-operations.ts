import { z } from "zod";
import { checkpointSchema } from "./checkpoint.ts";
import { checkpointRef, pidsInput, sessionRef, withoutBinds } from "./inputs.ts";
import { describe } from "./operation-contract.ts";
import { bindsLeftOut } from "./outputs.ts";
import { standbyPolicySchema } from "./session.ts";
import { checkpointVerifyInput, verifyErrorSchema } from "./verification.ts";

/** The operations that make checkpoints and start sessions from them. */
export const CHECKPOINT_CONTRACT = {
  checkpoint: describe({
    summary: "Capture a session",
    effect: "write",
    stream: true,
    input: z.strictObject({
      session: sessionRef,
      intent: z.string().max(10_000).optional().describe("What this moment is"),
      agentSaid: z
        .string()
        .max(10_000)
        .optional()
        .describe("The last message or tool call of the agent that works there"),
      name: z.string().optional().describe("Name to find it by"),
      filesOnly: z.boolean().default(false).describe("Capture the files alone"),
      durable: z
        .boolean()
        .default(false)
        .describe("Answer only when it is in the store, which on a disk survives power loss"),
      ...checkpointVerifyInput,
    }),
    output: checkpointSchema.extend({ verifyError: verifyErrorSchema }),
  }),
  fork: describe({
    summary: "Start new sessions from a checkpoint",
    effect: "write",
    input: z.strictObject({
      checkpoint: checkpointRef,
      count: z.number().int().min(1).max(256).default(1),
      name: z.string().optional().describe("Name of the fork; with a count, NAME-1, NAME-2, …"),
      pids: pidsInput.describe("Processes and threads at most; null: any number [its origin's]"),
      withoutBinds,
    }),
    output: z.object({
      sessions: z.array(
        z.object({ id: z.string(), name: z.string(), pid: z.number().int().nullable() }),
      ),
      readyMs: z.number().describe("Until all of them answered"),
      bindsLeftOut,
    }),
  }),
  standby: describe({
    summary: "Show or choose what is kept ready to restore and fork a session at once",
    effect: "write",
    input: z.strictObject({ session: sessionRef, policy: standbyPolicySchema.optional() }),
    output: z.object({
      session: z.string(),
      policy: z.string(),
      isDefault: z.boolean().describe("Nothing else was chosen for this session"),
      ready: z.array(z.string()).describe("Checkpoints that can be restored or forked at once"),
      reason: z.string().nullable().describe("Why nothing is kept at the moment"),
    }),
  }),
} as const;
