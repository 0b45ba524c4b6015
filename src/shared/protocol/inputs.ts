import { z } from "zod";
import { autoPolicySchema } from "./auto-operations.ts";
import { instantSchema, referenceSchema } from "./ids.ts";
import { PIDS_MAX } from "./pids.ts";
import { netModeSchema, standbyPolicySchema } from "./session.ts";
import { changesSectionSchema } from "./story.ts";
import { TERMINAL_COLUMNS_MAX, TERMINAL_ROWS_MAX } from "./terminal-size.ts";

/** The session that an operation is about. */
export const sessionRef = referenceSchema.describe(
  "Session: its name, id or a unique prefix of the id",
);
/** The checkpoint that an operation is about. */
export const checkpointRef = referenceSchema.describe(
  "Checkpoint: its id, a unique prefix, its name, NAME@ (where the session stands) or NAME@~2 (two before)",
);
/** A port of TCP. */
export const tcpPort = z.number().int().min(1).max(65_535);
const waitMs = z.number().int().positive().max(86_400_000);

/** What to do about binds whose source is gone. */
export const withoutBinds = z
  .boolean()
  .default(false)
  .describe("Go on without the binds whose source is gone");

/** How many processes and threads a session may have; `null` is any number. */
export const pidsInput = z.number().int().positive().max(PIDS_MAX).nullable().optional();

/** What `new` is told. */
export const newInput = z.strictObject({
  name: z.string().optional().describe("Name of the session; one is made up if not given"),
  base: z
    .string()
    .optional()
    .describe("Root filesystem directory; the host's own root if not given"),
  cwd: z.string().optional().describe("Directory in which the shell starts"),
  net: netModeSchema.default("nat"),
  user: z.string().default("root").describe("User of the session that its shell runs as"),
  shell: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe("Shell of the base: its name or path; bash if not given, or sh without bash"),
  memoryBytes: z.number().int().positive().optional().describe("Memory that it may use at most"),
  cpus: z
    .number()
    .positive()
    .max(4096)
    .optional()
    .describe("Processors' time at most; 0.5 is half"),
  pids: pidsInput.describe("Processes and threads at most; null: any number [the daemon's]"),
  diskBytes: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("Share of the store that it may take; half of the store if not given"),
  standby: standbyPolicySchema
    .optional()
    .describe("Keep ready to restore and fork at once: off, head, or a number of checkpoints"),
  auto: autoPolicySchema
    .optional()
    .describe("When to capture it by itself: manual, hybrid, command, edit, task, every=5m"),
  env: z.record(z.string(), z.string()).default({}).describe("Added to the shell's environment"),
  binds: z
    .array(
      z.strictObject({
        source: z.string().describe("Directory of the host, as an absolute path"),
        target: z.string().describe("Where it is inside the session, as an absolute path"),
        readOnly: z.boolean().default(false),
      }),
    )
    .max(64)
    .default([])
    .describe("Directories of the host to share with the session; they are not captured"),
  columns: z.number().int().min(1).max(TERMINAL_COLUMNS_MAX).default(120),
  rows: z.number().int().min(1).max(TERMINAL_ROWS_MAX).default(40),
});

/** What `exec` is told. */
export const execInput = z.strictObject({
  session: sessionRef,
  command: z
    .array(z.string())
    .min(1)
    .describe("One word: a line of shell; several: a program and its arguments"),
  shell: z
    .enum(["live", "own"])
    .default("live")
    .describe("The session's live shell, in which cd and export persist, or a process of its own"),
  tty: z.boolean().default(false).describe("Run on the terminal itself"),
  stdin: z.boolean().default(false).describe("Pass standard input on (own shell only)"),
  cwd: z.string().optional().describe("Directory for a command with its own shell"),
  timeoutMs: waitMs.optional().describe("Interrupt the command after this time; exit code 124"),
  keepOutputBytes: z
    .number()
    .int()
    .min(0)
    .max(1024 * 1024)
    .default(0)
    .describe("Also return this much of each output in the result"),
});

/** What a restore may lose of what is there now; nothing, unless it is said. */
export const lossInput = {
  loseProcesses: z
    .boolean()
    .default(false)
    .describe("Go on when the running processes cannot be captured; undo then has files alone"),
  withoutUndo: z
    .boolean()
    .default(false)
    .describe("Do not capture what is there now, for when the store is full"),
};

/** Whether a restore may take the ground from under somebody who types. */
export const whileTyping = z
  .boolean()
  .default(false)
  .describe("Also when somebody has typed at an attached terminal in the last ten seconds");

const wanted = z.string().min(1).max(4096).optional();
const instant = instantSchema.optional();

/** What `log` is told; a checkpoint is shown when all that is given fits it. */
export const logInput = z.strictObject({
  session: sessionRef.optional(),
  path: wanted.describe("It touched this path or one below it; * fits any characters, slashes too"),
  package: wanted.describe("It touched a package of this name; * fits any characters"),
  grep: wanted.describe("Text in its intent, its commands, their outputs or its verification"),
  verified: z
    .enum(["passing", "failing", "never"])
    .optional()
    .describe("How its verification ended, or that it has none"),
  auto: z.boolean().optional().describe("True: only automatic checkpoints; false: only the others"),
  since: instant.describe("Taken then or later"),
  until: instant.describe("Taken then or earlier"),
  limit: z.number().int().min(1).max(1_000_000).optional().describe("Only so many, the newest"),
});

/** The moment that an operation is about. */
export const momentRef = referenceSchema.describe(
  "A checkpoint, or a session by its name or id: as it is now",
);

/** What `diff` is told. */
export const diffInput = z.strictObject({
  from: momentRef,
  to: momentRef,
  path: z.string().max(4096).optional().describe("Only what lies at or below this path"),
  expand: z.boolean().default(false).describe("List what groups stand for, one by one"),
  patch: z.boolean().default(false).describe("With the lines of texts that differ"),
  sections: z
    .array(changesSectionSchema)
    .min(1)
    .optional()
    .describe("Only these; the others are null, and nothing is read for them"),
});
