import { z } from "zod";
import { autoPolicySchema } from "./auto.ts";
import { instantSchema, referenceSchema } from "./ids.ts";
import { NET_ALLOW_CHARACTERS_MAX, NET_ALLOW_WORDS, parseNetAllow } from "./net-allow.ts";
import { PIDS_MAX } from "./pids.ts";
import { netModeSchema, standbyPolicySchema } from "./session.ts";
import { changesSectionSchema } from "./story.ts";
import { TERMINAL_COLUMNS_MAX, TERMINAL_ROWS_MAX } from "./terminal-size.ts";

/** How a session is told what it may reach: `allow:` and names, addresses, ranges, with commas. */
const netAllowSchema = z
  .string()
  .max(NET_ALLOW_CHARACTERS_MAX)
  .refine((text) => parseNetAllow(text) !== null, NET_ALLOW_WORDS);

/** The session that an operation is about. */
export const sessionRef = referenceSchema.describe(
  "Session: its name, id or a unique prefix of the id",
);
/** The checkpoint that an operation is about. */
export const checkpointRef = referenceSchema.describe(
  "Checkpoint: its id, a prefix of it, its name, a session (where it stands), SESSION@~2 (two before) or SESSION@good",
);
/** The size of a terminal. */
export const terminalColumns = z
  .number()
  .int()
  .min(1)
  .max(TERMINAL_COLUMNS_MAX)
  .describe("Width of the terminal");
export const terminalRows = z
  .number()
  .int()
  .min(1)
  .max(TERMINAL_ROWS_MAX)
  .describe("Height of the terminal");
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

/** What a person has to approve in a session, as it is handed over. */
export const approvalPolicyText = z.string().min(1).max(65_536);

/** The step that a client has waited for until the daemon was lost. */
export const takenUp = z
  .string()
  .max(100)
  .optional()
  .describe("Take up this step, which waits for approval, and ask for no other");

/** What `new` is told. */
export const newInput = z.strictObject({
  name: z.string().optional().describe("Name of the session; one is made up if not given"),
  base: z
    .string()
    .min(1)
    .optional()
    .describe(
      "A kept base, or a directory, with a slash [the default base, else the host's own root]",
    ),
  cwd: z
    .string()
    .min(1)
    .optional()
    .describe("Directory in which the shell starts [this one, where it is in it, else home]"),
  cwdIfThere: z
    .string()
    .min(1)
    .optional()
    .describe("As cwd, where root starts on the host's own root and finds it there"),
  net: z
    .union([netModeSchema, netAllowSchema])
    .default("nat")
    .describe(
      "Network: through the host, not at all, or as the host; or allow:NAME,… for these alone",
    ),
  user: z.string().min(1).default("root").describe("User of the session that its shell runs as"),
  shell: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe("Shell of the base: its name or path [bash, else sh]"),
  memoryBytes: z.number().int().positive().optional().describe("Memory that it may use at most"),
  cpus: z
    .number()
    .positive()
    .max(4096)
    .optional()
    .describe("Processors' time that it may use at most; 1.5 is one and a half"),
  pids: pidsInput.meta({
    description: "Processes and threads at most [the daemon's]",
    whenNull: "unlimited",
  }),
  diskBytes: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("Share of the store that it may take [half of the store]"),
  standby: standbyPolicySchema
    .optional()
    .describe(
      "Kept ready to restore and fork at once: off, head, or a number of checkpoints [the daemon's]",
    ),
  auto: autoPolicySchema
    .optional()
    .describe(
      "When to capture it by itself: hybrid, or command, edit, task, every=5m, with commas [manual]",
    ),
  approve: approvalPolicyText
    .optional()
    .describe("What a person has to approve: off, default, or a policy in JSON [off]"),
  env: z
    .record(z.string(), z.string())
    .default({})
    .describe("Variables for the shell's environment"),
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
    .describe("Directories of the host to share with it; they are not captured"),
  columns: terminalColumns.default(120),
  rows: terminalRows.default(40),
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
    .describe("The session's live shell, in which cd and export persist, or one of its own"),
  tty: z
    .boolean()
    .default(false)
    .describe(
      "Run on the session's terminal, where its output stays; own shell: on one of its own",
    ),
  stdin: z.boolean().default(false).describe("Pass standard input on (own shell only)"),
  columns: terminalColumns.default(120),
  rows: terminalRows.default(40),
  cwd: z
    .string()
    .optional()
    .describe("Directory to run in (own shell only) [the session's first; another user's home]"),
  user: z.string().min(1).optional().describe("User to run as (own shell only) [the session's]"),
  env: z
    .record(z.string(), z.string())
    .default({})
    .describe("Variables for its environment (own shell only)"),
  timeoutMs: waitMs
    .optional()
    .describe("Interrupt the command after this time, with exit code 124"),
  approvalTimeoutMs: waitMs
    .optional()
    .describe("How long a person has to approve it [the policy's]"),
  approval: takenUp,
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
    .describe("Go on when what runs cannot be captured; undo then brings back files only"),
  withoutUndo: z
    .boolean()
    .default(false)
    .describe("Do not capture what is there now, for when the store is full"),
};

/** Whether a restore may take the ground from under somebody who types. */
export const whileTyping = z
  .boolean()
  .default(false)
  .describe("Go on although somebody has typed in the session in the last ten seconds");

const wanted = z.string().min(1).max(4096).optional();
const instant = instantSchema.optional();

/** What `log` is told; a checkpoint is shown when all that is given fits it. */
export const logInput = z.strictObject({
  session: sessionRef.optional().describe("Only this session and where it came from"),
  path: wanted.describe("That touched this path, or one below; * fits any characters, slashes too"),
  package: wanted.describe("That touched a package of this name; * fits any characters"),
  grep: wanted.describe(
    "With this text in the intent, a command, its output, the verification or a decision",
  ),
  verified: z
    .enum(["passing", "failing", "undecided", "never"])
    .optional()
    .describe(
      "By how the verification ended; undecided: too late, or not run; never: there is none",
    ),
  command: z
    .string()
    .max(1024 * 1024)
    .optional()
    .describe("Mark and filter by what this command said, not by each one's own"),
  tag: z.string().max(1024).optional().describe("With this label"),
  decisions: z.boolean().default(false).describe("What was decided, too, where it was"),
  auto: z.boolean().optional().meta({
    description: "Only automatic checkpoints",
    whenFalse: "Without the automatic checkpoints",
  }),
  since: instant.describe("Taken then or later"),
  until: instant.describe("Taken then or earlier"),
  limit: z
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe("Only so many, the newest of those that fit"),
});

/** The moment that an operation is about. */
export const momentRef = referenceSchema.describe(
  "A checkpoint, as in `waypoint show`, or a session: as it is now",
);

/** What `diff` is told. */
export const diffInput = z.strictObject({
  from: momentRef.describe("A checkpoint, or a session: as it is now, or alone where it stands"),
  to: momentRef
    .optional()
    .describe("A checkpoint, or a session: as it is now [the session of the first, as it is now]"),
  path: z.string().max(4096).optional().describe("Only what lies at or below this path"),
  expand: z.boolean().default(false).describe("List what groups such as node_modules stand for"),
  patch: z.boolean().default(false).describe("With the lines of texts that differ"),
  sections: z.array(changesSectionSchema).min(1).optional().describe("Compare only these sections"),
});
