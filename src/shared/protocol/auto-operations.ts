import { z } from "zod";
import { autoPolicySchema, autoStateSchema } from "./auto.ts";
import { instantSchema } from "./ids.ts";
import { sessionRef } from "./inputs.ts";
import { describe } from "./operation-contract.ts";

/** The operation on a session's automatic checkpoints. */
export const AUTO_CONTRACT = {
  auto: describe({
    summary: "Show, choose or pause the automatic checkpoints of a session",
    description:
      "`hybrid`: after commands that changed files, processes, a directory or the shell, " +
      "and after tasks. `command`: after every command. `edit`: when written files have " +
      "come to rest. `task`: when a task is said to have ended. `every=5m`: every five " +
      "minutes in which something ran. `manual` or `off`: never. They are taken in the " +
      "background, one at a time; a command that comes meanwhile goes first.",
    errors: ["SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS"],
    examples: [
      ["waypoint auto web", "What is chosen, whether it is paused, and the last failure"],
      ["waypoint auto web hybrid,every=10m", "After what changes something, and every ten minutes"],
      ["waypoint auto web pause", "None until `waypoint auto web resume`"],
      ['waypoint auto web --task-done "migration written"', "What an agent says after a task"],
    ],
    effect: "write",
    input: z.strictObject({
      session: sessionRef,
      policy: autoPolicySchema
        .optional()
        .describe("A policy: hybrid, or command, edit, task, every=5m, with commas; manual"),
      paused: z.boolean().optional().describe("Take none until it is false again"),
      taskDone: z
        .string()
        .min(1)
        .max(10_000)
        .optional()
        .describe("A task that has just ended, for policies with task"),
    }),
    output: autoStateSchema.extend({
      session: z.string(),
      retryAt: instantSchema.nullable().describe("Before this none is tried again after a failure"),
      isScheduled: z.boolean().describe("One is about to be taken, or being taken"),
    }),
  }),
} as const;
