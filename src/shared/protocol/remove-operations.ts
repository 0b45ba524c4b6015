import { z } from "zod";
import { checkpointRef, sessionRef } from "./inputs.ts";
import { describe } from "./operation-contract.ts";
import { sessionSchema } from "./session.ts";

const force = z.boolean().default(false).describe("Also what runs, is browsed or is needed");

/** The operations that remove sessions, or parts of them. */
export const REMOVE_CONTRACT = {
  rm: describe({
    summary: "Remove a session, its files and its checkpoints",
    description: "Checkpoints that forks descend from are kept.",
    errors: [
      "SESSION_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "SESSION_WRONG_STATE",
      "SESSION_UNRESPONSIVE",
    ],
    examples: [
      ["waypoint rm probe --yes", "Without asking"],
      ["waypoint rm web@~3 web@~4", "Two checkpoints, to make room"],
      ["waypoint rm --files web", "What web left in its files; its checkpoints stay"],
    ],
    effect: "destroy",
    input: z.strictObject({
      session: sessionRef,
      force,
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
    description:
      "Checkpoints are removed all or none. The children of a checkpoint get its parent; one that a session stands " +
      "on, or that an undo goes back to, is removed by force only.",
    errors: ["CHECKPOINT_NOT_FOUND", "REFERENCE_AMBIGUOUS", "CHECKPOINT_IN_USE"],
    effect: "destroy",
    input: z.strictObject({
      checkpoints: z.array(checkpointRef).min(1).max(256).describe("Checkpoints to remove"),
      force,
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
    errors: ["SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS", "SESSION_WRONG_STATE"],
    effect: "destroy",
    input: z.strictObject({ session: sessionRef }),
    output: sessionSchema,
  }),
} as const;
