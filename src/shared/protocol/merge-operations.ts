import { z } from "zod";
import { fileTypeSchema } from "./file-change.ts";
import { checkpointRef, sessionRef } from "./inputs.ts";
import { describe } from "./operation-contract.ts";

const PATH_BYTES_MAX = 4096;
const PATHS_MAX = 1000;

const pathSchema = z.strictObject({
  path: z.string().max(PATH_BYTES_MAX).describe("Of the session; absolute"),
  pathBase64: z
    .string()
    .max(2 * PATH_BYTES_MAX)
    .optional()
    .describe("Its bytes, if no UTF-8"),
});

const plannedPath = {
  path: z.string().describe("Below the directory that is written to"),
  pathBase64: z.string().optional(),
};

/** What is to be done, or was, with all paths on which both sides differ. */
export const planOutput = z.object({
  steps: z
    .array(
      z.object({
        ...plannedPath,
        action: z.enum(["write", "delete", "mkdir", "rights"]),
        type: fileTypeSchema,
        isNew: z.boolean().describe("There is nothing at the path before"),
        isMerged: z.boolean().describe("The lines of both sides, joined"),
        sizeBytes: z.number().int(),
      }),
    )
    .describe("The first of them; the totals count all"),
  totals: z.object({
    written: z.number().int(),
    deleted: z.number().int(),
    directories: z.number().int().describe("Made"),
    rights: z.number().int().describe("Given another mode or owner"),
    same: z.number().int().describe("As they should be already"),
    conflicts: z.number().int(),
  }),
  conflicts: z
    .array(
      z.object({
        ...plannedPath,
        kind: z.enum(["both-changed", "both-added", "changed-deleted", "kind", "blocked"]),
        why: z.string(),
      }),
    )
    .describe("The first of them; the totals count all"),
  notes: z
    .array(z.object({ path: z.string(), reason: z.string() }))
    .describe("What is done otherwise, or left out; the first of them"),
  noteCount: z.number().int(),
});
export type PlanOutput = z.infer<typeof planOutput>;

const applied = planOutput.extend({
  target: z.string().describe("Directory of this machine that is written to"),
  checkpoint: z.string(),
  isDone: z.boolean().describe("false for a dry run, and where there was nothing to do"),
  operation: z.number().int().nullable().describe("Number in the log, for `--undo`"),
});
export type Applied = z.infer<typeof applied>;

const force = z.boolean().default(false);

/** The operations that take work over: out to the machine, or from one branch into another. */
export const MERGE_CONTRACT = {
  apply: describe({
    summary: "Bring the work of a checkpoint into the real files of this machine",
    description:
      "Three-way, against what the session saw when it began to change a path: what " +
      "somebody has changed here since is never overwritten unasked. With any conflict " +
      "nothing is written. Each file is the old one or the new one at every moment, " +
      "whatever happens.",
    errors: [
      "CHECKPOINT_NOT_FOUND",
      "SESSION_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "APPLY_CONFLICT",
      "APPLY_UNFINISHED",
      "APPLY_NOT_FOUND",
      "FILE_NOT_FOUND",
      "FILE_FAILED",
      "STORE_FULL",
      "TOOL_FAILED",
      "CHECKPOINT_INCOMPLETE",
    ],
    examples: [
      ["waypoint apply web@ /srv/app --dry-run", "What would be written, and what is in conflict"],
      ["waypoint apply web@ /srv/app", "The work of web, to the same place on this machine"],
      ["waypoint apply green /srv/app --to ~/app", "Into a directory of yours"],
      ["waypoint apply web@ /srv/app --patch | git apply -p1 --directory=...", "As a patch"],
      ["waypoint apply --undo", "Take it back"],
    ],
    effect: "destroy",
    stream: true,
    input: z.strictObject({
      checkpoint: checkpointRef,
      paths: z
        .array(pathSchema)
        .max(PATHS_MAX)
        .default([])
        .describe("Only these paths of the session and what is below them; absolute"),
      to: pathSchema
        .optional()
        .describe("Directory for what is in the one path [the session's base]"),
      dryRun: z
        .boolean()
        .default(false)
        .describe("Only print what would be done, and all conflicts"),
      patch: z.boolean().default(false).describe("Only print it, as a patch for git apply"),
      force: force.describe("Take the checkpoint's version where both have changed"),
    }),
    output: applied,
  }),
  "apply.undo": describe({
    summary: "Take an apply back",
    errors: ["APPLY_NOT_FOUND", "APPLY_CONFLICT", "APPLY_UNFINISHED", "FILE_FAILED"],
    effect: "destroy",
    input: z.strictObject({
      operation: z
        .number()
        .int()
        .optional()
        .describe("Number of an apply in `waypoint op log` [the last one]"),
      dryRun: z
        .boolean()
        .default(false)
        .describe("Only print what would be done, and all conflicts"),
      force: force.describe("Also where files were changed since"),
    }),
    output: applied,
  }),
  "apply.continue": describe({
    summary: "Complete an apply or merge that was interrupted",
    errors: ["APPLY_NOT_FOUND", "FILE_FAILED"],
    effect: "destroy",
    input: z.strictObject({}),
    output: applied,
  }),
  "apply.abort": describe({
    summary: "Put back what an interrupted apply or merge had done",
    errors: ["APPLY_NOT_FOUND", "FILE_FAILED"],
    effect: "destroy",
    input: z.strictObject({}),
    output: applied,
  }),
  merge: describe({
    summary: "Take the file changes of another branch into a live session",
    description:
      "Three-way, from the nearest checkpoint that both come from. The session is " +
      "checkpointed first and runs on. Conflicts end as git's merge leaves them: markers in " +
      "texts, of other files the session's own version stays. Memory and processes are not " +
      "merged.",
    errors: [
      "CHECKPOINT_NOT_FOUND",
      "SESSION_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "LINEAGE_UNRELATED",
      "SESSION_WRONG_STATE",
      "SESSION_UNRESPONSIVE",
      "APPLY_CONFLICT",
      "APPLY_UNFINISHED",
      "CRIU_DUMP_FAILED",
      "FILE_FAILED",
      "STORE_FULL",
      "CHECKPOINT_INCOMPLETE",
    ],
    examples: [
      ["waypoint merge web try-2@", "What the fork try-2 has made, into web"],
      ["waypoint merge web green --dry-run", "What would be written, and what is in conflict"],
    ],
    effect: "destroy",
    input: z.strictObject({
      session: sessionRef,
      checkpoint: checkpointRef,
      dryRun: z
        .boolean()
        .default(false)
        .describe("Only print what would be done, and all conflicts"),
    }),
    output: planOutput.extend({
      session: z.string(),
      checkpoint: z.string(),
      ancestor: z.string().describe("Checkpoint from which both come"),
      before: z.string().nullable().describe("Checkpoint taken first; a restore of it undoes all"),
      isDone: z.boolean(),
      operation: z.number().int().nullable(),
      holders: z
        .array(z.object({ pid: z.number().int(), command: z.string(), path: z.string() }))
        .describe("Processes of the session that have a replaced file open as it was"),
    }),
  }),
} as const;
