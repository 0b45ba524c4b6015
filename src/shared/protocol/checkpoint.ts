import { z } from "zod";
import { autoCauseSchema } from "./auto.ts";
import { instantSchema } from "./ids.ts";
import { intentSchema } from "./intent.ts";
import { partsSchema } from "./restore-parts.ts";
import { verificationSchema } from "./verification.ts";

/** `captured` survives the daemon's death; `durable` survives the machine's loss of power. */
export const stageSchema = z.enum(["captured", "durable"]);
export type CheckpointStage = z.infer<typeof stageSchema>;

/** What made a checkpoint. */
export const triggerSchema = z.enum([
  ...(["manual", "before-restore", "before-stop", "before-merge", "auto"] as const),
]);
export type CheckpointTrigger = z.infer<typeof triggerSchema>;

/** `full`: processes and files. `files`: files alone (nothing ran, or it was asked for). */
export const contentSchema = z.enum(["full", "files"]);
export type CheckpointContent = z.infer<typeof contentSchema>;

/** A checkpoint as `checkpoint`, `log` and `show` print it. */
export const checkpointSchema = z.object({
  id: z.string().describe("Its id; a unique prefix names it, too"),
  session: z.string().describe("Id of the session it captured"),
  sessionName: z.string().describe("Name of the session it captured"),
  parent: z
    .string()
    .nullable()
    .describe("Checkpoint that the session stood on; null for its first"),
  name: z.string().nullable().describe("Its own name, where it was given one"),
  tags: z.array(z.string()).describe("Its labels, which other checkpoints may have, too"),
  intent: z.string().nullable().describe("What was meant, in the user's words"),
  task: z.string().nullable().describe("Task of the agent that was in progress: id and title"),
  derivedIntent: intentSchema
    .nullable()
    .describe("What tells it where nobody said it; null until the story is ready"),
  trigger: triggerSchema.describe("What made it"),
  autoCause: autoCauseSchema.nullable().describe("What an automatic one was taken for"),
  content: contentSchema.describe("full: processes and files; files: files alone"),
  createdAt: instantSchema.describe("The moment that it captured"),
  unchangedSince: z
    .string()
    .nullable()
    .describe("Its parent, if nothing had run or changed since: both share what was captured"),
  pauseMs: z
    .number()
    .describe(
      "How long the session's processes stood still; in two pauses together, where memory was copied between them",
    ),
  totalMs: z.number().describe("How long the whole capture took"),
  memoryBytes: z.number().int().describe("Size of the memory pages captured"),
  pauseBytes: z
    .number()
    .int()
    .nullable()
    .describe(
      "How much of the memory was copied in the pause, the rest earlier: for the checkpoint before, or while the session ran; null: all of it",
    ),
  stage: stageSchema.describe(
    "captured: survives the daemon's death; durable: also a loss of power",
  ),
  verification: verificationSchema
    .nullable()
    .describe(
      "The newest verdict of its own verify command, `null` where there is none: it makes the ✓ or ✗. `log` has little of its output",
    ),
  changes: z
    .object({
      summary: z.string().describe("What changed, in brief; empty until the story is ready"),
    })
    .describe("What differs from its parent; `show` has all of it"),
});
export type Checkpoint = z.infer<typeof checkpointSchema>;

/** What else there is to say of a restore, an undo or a revert. */
export const operationDetailSchema = z.object({
  parts: partsSchema.nullable().describe("What was put back; null: all of it"),
  since: z.string().nullable().describe("Of a revert: what had changed until this checkpoint"),
  undoes: z.number().int().nullable().describe("Of an undo: the operation that it took back"),
  state: z
    .enum(["begun", "done", "interrupted"])
    .describe("Of files that were put back one by one: how far it came"),
  put: z.number().int().describe("How many files were put in place"),
  removed: z.number().int(),
});
export type OperationDetail = z.infer<typeof operationDetailSchema>;

/** An operation that moved a session, as `log` prints it between checkpoints. */
export const operationRecordSchema = z.object({
  id: z.number().int(),
  session: z.string(),
  kind: z
    .enum(["new", "fork", "restore", "undo", "revert", "stop", "recover", "apply", "merge"])
    .describe("`recover`: restored again by itself, after a lazy restore had lost its memory"),
  checkpoint: z.string().nullable(),
  undo: z.string().nullable().describe("Checkpoint that takes the operation back"),
  at: instantSchema,
  readyMs: z.number().nullable(),
  detail: operationDetailSchema.nullable().describe("null where there is no more to say"),
});
export type OperationRecord = z.infer<typeof operationRecordSchema>;
