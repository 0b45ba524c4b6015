import { z } from "zod";
import { checkpointRef, sessionRef } from "./inputs.ts";
import { describe } from "./operation-contract.ts";
import { sessionSchema } from "./session.ts";

/** The operations that remove sessions, or parts of them. */
export const REMOVE_CONTRACT = {
  rm: describe({
    summary: "Remove a session, its files and its checkpoints",
    effect: "destroy",
    input: z.strictObject({
      session: sessionRef,
      force: z.boolean().default(false).describe("Also when it is running or browsed"),
    }),
    output: z.object({
      session: z.string(),
      name: z.string(),
      checkpointsRemoved: z.number().int(),
      checkpointsKept: z.number().int().describe("Kept because forks descend from them"),
    }),
  }),
  "rm.checkpoints": describe({
    summary: "Remove single checkpoints; their children get the parent before them",
    effect: "destroy",
    input: z.strictObject({
      checkpoints: z.array(checkpointRef).min(1).max(256),
      force: z
        .boolean()
        .default(false)
        .describe("Also when a session stands on one, an undo goes back to it, or it is browsed"),
    }),
    output: z.object({
      removed: z.array(
        z.object({ id: z.string(), name: z.string().nullable(), sessionName: z.string() }),
      ),
      reparented: z.array(z.string()).describe("Checkpoints that have another parent now"),
    }),
  }),
  "rm.files": describe({
    summary: "Remove the files of a session that does not run, and keep its checkpoints",
    effect: "destroy",
    input: z.strictObject({ session: sessionRef }),
    output: sessionSchema,
  }),
} as const;
