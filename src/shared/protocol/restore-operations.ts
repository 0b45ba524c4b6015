import { z } from "zod";
import { contentSchema, operationRecordSchema } from "./checkpoint.ts";
import { checkpointRef, lossInput, sessionRef, whileTyping, withoutBinds } from "./inputs.ts";
import { describe } from "./operation-contract.ts";
import { bindsLeftOut } from "./outputs.ts";
import { partsInput, partsSchema } from "./restore-parts.ts";
import { holderSchema, restoreCheckSchema, restorePlanSchema } from "./restore-plan.ts";
import { conflictSchema, joinedFields, revertPlanSchema } from "./revert.ts";
import { stateKey } from "./state.ts";

const check = z.boolean().default(false).meta({
  description: "Compare the outcome with what was to be there, before the answer",
  whenFalse: "Skip checking the result",
});
const expand = z
  .boolean()
  .default(false)
  .describe("List what groups such as node_modules stand for");

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
  checkpointName: z.string().nullable(),
  checkpointContent: contentSchema.describe("What that checkpoint holds"),
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
  from: checkpointRef.describe("Checkpoint that files are put back to"),
  to: checkpointRef.describe("Checkpoint that has what is to be taken back"),
  paths: partsInput.paths,
  except: partsInput.except,
  force: z.boolean().default(false).describe("Also put back what was changed again since"),
};

/** An operation as `op log` prints it. */
export const loggedOperationSchema = operationRecordSchema.extend({
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
    description:
      "What is there now is checkpointed first, so `waypoint undo` takes it back. A restore " +
      "that fails leaves the session as it was. Paths put back files alone, under what " +
      "runs.",
    errors: [
      "SESSION_NOT_FOUND",
      "CHECKPOINT_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "CHECKPOINT_OF_OTHER_SESSION",
      "TERMINAL_IN_USE",
      "PART_NOT_CAPTURED",
      "SESSION_WRONG_STATE",
      "SESSION_UNRESPONSIVE",
      "FILE_NOT_FOUND",
      "FILE_REFUSED",
      "FILE_FAILED",
      "BIND_SOURCE_MISSING",
      "CRIU_DUMP_FAILED",
      "CRIU_RESTORE_FAILED",
      "STATE_TOO_LARGE",
      "STORE_FULL",
    ],
    examples: [
      ["waypoint restore web web@", "Back to its newest checkpoint, or the one it stands on"],
      ["waypoint restore web green --dry-run", "What that would undo"],
      ["waypoint restore web green --yes", "Back to the one named green, without asking"],
      ["waypoint restore web green --path /srv/app", "A directory as it was; programs run on"],
      ["waypoint restore web green --except /srv/data", "All files but these"],
      ["waypoint restore web green --account", "The conversation is told what was learned since"],
    ],
    effect: "destroy",
    input: z.strictObject({
      session: sessionRef,
      checkpoint: checkpointRef,
      ...partsInput,
      ...lossInput,
      whileTyping,
      withoutBinds,
      check,
      account: stateKey
        .optional()
        .describe(
          "Append what is known from branches that were left to this list of the state [nothing]",
        ),
      accountRole: z
        .string()
        .min(1)
        .max(100)
        .default("system")
        .describe("Who says so: the role of that message"),
    }),
    output: restoreOutput.extend({
      account: z.string().nullable().describe("What was appended; null for nothing"),
    }),
  }),
  "restore.plan": describe({
    summary: "Tell what a restore would undo, and change nothing",
    errors: [
      "SESSION_NOT_FOUND",
      "CHECKPOINT_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "CHECKPOINT_OF_OTHER_SESSION",
      "PART_NOT_CAPTURED",
    ],
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
    description:
      "The last one, or the one with a number of `waypoint op log`. What is there now is " +
      "checkpointed first: an undo can be undone.",
    errors: [
      "SESSION_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "NOTHING_TO_UNDO",
      "TERMINAL_IN_USE",
      "SESSION_WRONG_STATE",
      "SESSION_UNRESPONSIVE",
      "FILE_REFUSED",
      "FILE_FAILED",
      "BIND_SOURCE_MISSING",
      "CRIU_DUMP_FAILED",
      "CRIU_RESTORE_FAILED",
      "STORE_FULL",
    ],
    examples: [
      ["waypoint undo web", "web is as it was before the last restore"],
      ["waypoint undo web 12", "Takes operation 12 back"],
    ],
    effect: "destroy",
    input: z.strictObject({
      session: sessionRef,
      operation: z
        .number()
        .int()
        .positive()
        .optional()
        .describe("Number of an operation in `waypoint op log` [the last one]"),
      ...lossInput,
      whileTyping,
      withoutBinds,
      check,
    }),
    output: restoreOutput,
  }),
  revert: describe({
    summary: "Take back what changed in files between two checkpoints, keep what came later",
    description:
      "Under what runs, file by file. Of a text that was changed again after TO the lines " +
      "of then go back and those changed since stay. All else that was changed again is a " +
      "conflict: it is listed and left, unless forced back to FROM.",
    errors: [
      "SESSION_NOT_FOUND",
      "CHECKPOINT_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "CHECKPOINT_OF_OTHER_SESSION",
      "SESSION_WRONG_STATE",
      "SESSION_UNRESPONSIVE",
      "FILE_NOT_FOUND",
      "FILE_REFUSED",
      "FILE_FAILED",
      "CRIU_DUMP_FAILED",
      "STORE_FULL",
    ],
    examples: [
      ["waypoint revert web green web@", "What changed in files since green"],
      ["waypoint revert web web@~2 web@~1 /etc", "What one step changed below /etc"],
    ],
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
    errors: [
      "SESSION_NOT_FOUND",
      "CHECKPOINT_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "CHECKPOINT_OF_OTHER_SESSION",
      "FILE_NOT_FOUND",
    ],
    effect: "read",
    input: z.strictObject(revertInput),
    output: revertPlanSchema,
  }),
  "op.log": describe({
    summary: "List what was done to sessions, newest last",
    errors: ["SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS"],
    examples: [
      ["waypoint op log", "Of all sessions"],
      ["waypoint op log web", "Of web; the number is what `waypoint undo web` takes"],
    ],
    effect: "read",
    input: z.strictObject({
      session: sessionRef.optional().describe("Only this session and where it came from"),
    }),
    output: z.object({ operations: z.array(loggedOperationSchema) }),
  }),
} as const;
