import { z } from "zod";
import { execInput, newInput, sessionRef } from "./inputs.ts";
import { describe } from "./operation-contract.ts";
import { execOutput } from "./outputs.ts";
import { processSchema, sessionSchema } from "./session.ts";
import { TERMINAL_COLUMNS_MAX, TERMINAL_ROWS_MAX } from "./terminal-size.ts";

/** The operations on sessions and what runs in them. */
export const SESSION_CONTRACT = {
  new: describe({
    summary: "Start a session",
    effect: "write",
    input: newInput,
    output: sessionSchema,
  }),
  ls: describe({
    summary: "List the sessions",
    effect: "read",
    input: z.strictObject({}),
    output: z.object({ sessions: z.array(sessionSchema) }),
  }),
  ps: describe({
    summary: "List the processes of a session",
    effect: "read",
    input: z.strictObject({ session: sessionRef }),
    output: z.object({ session: z.string(), processes: z.array(processSchema) }),
  }),
  exec: describe({
    summary: "Run a command in a session",
    effect: "write",
    stream: true,
    input: execInput,
    output: execOutput,
  }),
  attach: describe({
    summary: "Connect a terminal to a session",
    effect: "write",
    stream: true,
    input: z.strictObject({
      session: sessionRef,
      columns: z.number().int().min(1).max(TERMINAL_COLUMNS_MAX),
      rows: z.number().int().min(1).max(TERMINAL_ROWS_MAX),
      command: z
        .array(z.string())
        .optional()
        .describe("Typed into the shell first; the attachment ends with it"),
    }),
    output: z.object({
      reason: z.enum(["detached", "ended", "removed"]),
      exitCode: z.number().int().nullable(),
    }),
  }),
  stop: describe({
    summary: "End a session's processes and keep its files and checkpoints",
    effect: "destroy",
    input: z.strictObject({
      session: sessionRef,
      checkpoint: z.boolean().default(true).describe("Checkpoint it first, to start it again from"),
    }),
    output: z.object({ session: sessionSchema, checkpoint: z.string().nullable() }),
  }),
} as const;
