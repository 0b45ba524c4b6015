import { z } from "zod";
import { contentSchema, operationRecordSchema } from "./checkpoint.ts";
import { checkpointRef, lossInput, sessionRef, whileTyping, withoutBinds } from "./inputs.ts";
import { describe } from "./operation-contract.ts";
import { bindsLeftOut } from "./outputs.ts";
import { partsInput, partsSchema } from "./restore-parts.ts";
import { holderSchema, restoreCheckSchema, restorePlanSchema } from "./restore-plan.ts";
import { conflictSchema, joinedFields, revertPlanSchema } from "./revert.ts";

const check = z
  .boolean()
  .default(false)
  .describe("Compare the outcome with what was to be there, before the answer");
const expand = z.boolean().default(false).describe("List what groups stand for, one by one");

/** What became of files that were put back under a running session. */
const filesPutSchema = z.object({
  put: z.number().int().describe("Files, directories and links that were put in place"),
  removed: z.number().int(),
  leftOut: z
    .array(z.object({ path: z.string(), reason: z.string() }))
    .describe("What stayed as it was; the first of them"),
  leftOutCount: z.number().int(),
  heldOpen: z.array(holderSchema).describe("Processes that still have the old files open"),
});
export type FilesPut = z.infer<typeof filesPutSchema>;

/** What `restore` and `undo` answer. */
const restoreOutput = z.object({
  session: z.string(),
  checkpoint: z.string(),
  undo: z.string().nullable().describe("Checkpoint of what was there before"),
  undoContent: contentSchema.nullable().describe("What that checkpoint holds"),
  readyMs: z.number().describe("Until the session answered again"),
  totalMs: z.number().describe("With the checkpoint taken first"),
  bindsLeftOut,
  pid: z.number().int().nullable(),
  parts: partsSchema.describe("What was put back"),
  files: filesPutSchema.nullable().describe("null where everything was put back at once"),
  check: restoreCheckSchema.nullable().describe("null where it was not asked for"),
});

const revertInput = {
  session: sessionRef,
  from: checkpointRef.describe("What files are put back to"),
  to: checkpointRef.describe("What they had become; what changed after that is kept"),
  paths: partsInput.paths,
  except: partsInput.except,
  force: z.boolean().default(false).describe("Also put back what was changed again since"),
};

/** An operation as `op log` prints it. */
const loggedOperationSchema = operationRecordSchema.extend({
  sessionName: z.string(),
  undoCommand: z.string().nullable().describe("What takes it back; null where nothing can"),
  whyNot: z.string().nullable().describe("Why it cannot be taken back"),
  undoneBy: z.number().int().nullable().describe("The operation that took it back"),
});
export type LoggedOperation = z.infer<typeof loggedOperationSchema>;

/** The operations that take something back, and those that tell what would be. */
export const RESTORE_CONTRACT = {
  restore: describe({
    summary: "Put a session back to a checkpoint, all of it or parts",
    effect: "destroy",
    input: z.strictObject({
      session: sessionRef,
      checkpoint: checkpointRef,
      ...partsInput,
      ...lossInput,
      whileTyping,
      withoutBinds,
      check,
    }),
    output: restoreOutput,
  }),
  "restore.plan": describe({
    summary: "Tell what a restore would undo, and change nothing",
    effect: "read",
    input: z.strictObject({
      session: sessionRef,
      checkpoint: checkpointRef,
      ...partsInput,
      expand,
    }),
    output: restorePlanSchema,
  }),
  undo: describe({
    summary: "Take a restore or another operation back",
    effect: "destroy",
    input: z.strictObject({
      session: sessionRef,
      operation: z
        .number()
        .int()
        .positive()
        .optional()
        .describe("Which to take back, by its number in the log; the last one if not given"),
      ...lossInput,
      whileTyping,
      withoutBinds,
      check,
    }),
    output: restoreOutput,
  }),
  revert: describe({
    summary: "Take back what changed in files between two checkpoints, and keep what came later",
    effect: "destroy",
    input: z.strictObject({ ...revertInput, ...lossInput, check }),
    output: restoreOutput.extend({
      since: z.string().describe("The later one of the two checkpoints"),
      ...joinedFields,
      conflicts: z.array(conflictSchema).describe("Left as they are, unless forced; the first"),
      conflictsCount: z.number().int(),
    }),
  }),
  "revert.plan": describe({
    summary: "Tell what a revert would take back, and change nothing",
    effect: "read",
    input: z.strictObject(revertInput),
    output: revertPlanSchema,
  }),
  "op.log": describe({
    summary: "List what was done to sessions and how it is taken back",
    effect: "read",
    input: z.strictObject({ session: sessionRef.optional() }),
    output: z.object({ operations: z.array(loggedOperationSchema) }),
  }),
} as const;
