import { z } from "zod";
import { checkpointSchema, contentSchema, operationRecordSchema } from "./checkpoint.ts";
import { referenceSchema } from "./ids.ts";
import { forwardSchema, netModeSchema, processSchema, sessionSchema } from "./session.ts";

/**
 * Every operation of Waypoint, described once: the daemon validates with it, the command line,
 * the SDK and the documents derive from it.
 *
 * `effect` says what it may change. `stream` operations also exchange bytes while they run
 * (frames.ts); their result comes last.
 */
export interface OperationContract<
  I extends z.ZodType = z.ZodType,
  O extends z.ZodType = z.ZodType,
> {
  summary: string;
  effect: "read" | "write" | "destroy";
  stream?: true;
  input: I;
  output: O;
}

function describe<I extends z.ZodType, O extends z.ZodType>(contract: OperationContract<I, O>) {
  return contract;
}

const sessionRef = referenceSchema.describe("Session: its name, id or a unique prefix of the id");
const checkpointRef = referenceSchema.describe(
  "Checkpoint: its id, a unique prefix, its name, NAME@ (newest) or NAME@~2 (two before)",
);
const tcpPort = z.number().int().min(1).max(65_535);
const waitMs = z.number().int().positive().max(86_400_000);

const newInput = z.strictObject({
  name: z.string().optional().describe("Name of the session; one is made up if not given"),
  base: z
    .string()
    .optional()
    .describe("Root filesystem directory; the host's own root if not given"),
  cwd: z.string().optional().describe("Directory in which the shell starts"),
  net: netModeSchema.default("nat"),
  user: z.string().default("root").describe("User of the session that its shell runs as"),
  env: z.record(z.string(), z.string()).default({}).describe("Added to the shell's environment"),
  columns: z.number().int().min(1).max(2000).default(120),
  rows: z.number().int().min(1).max(1000).default(40),
});

const execInput = z.strictObject({
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
const lossInput = {
  loseProcesses: z
    .boolean()
    .default(false)
    .describe("Go on when the running processes cannot be captured; undo then has files alone"),
  withoutUndo: z
    .boolean()
    .default(false)
    .describe("Do not capture what is there now, for when the store is full"),
};

const execOutput = z.object({
  exitCode: z.number().int(),
  signal: z.number().int().nullable().describe("Signal that ended the command, if one did"),
  timedOut: z.boolean(),
  shellEnded: z.boolean().describe("It ended the live shell too, and a fresh one was started"),
  durationMs: z.number(),
  stdout: z.string(),
  stderr: z.string(),
  truncated: z.boolean().describe("stdout or stderr here is shorter than what was printed"),
});

/** The operations by name. */
export const CONTRACT = {
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
      columns: z.number().int().min(1).max(2000),
      rows: z.number().int().min(1).max(1000),
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
  rm: describe({
    summary: "Remove a session, its files and its checkpoints",
    effect: "destroy",
    input: z.strictObject({
      session: sessionRef,
      force: z.boolean().default(false).describe("Also when it is running"),
    }),
    output: z.object({
      session: z.string(),
      name: z.string(),
      checkpointsRemoved: z.number().int(),
      checkpointsKept: z.number().int().describe("Kept because forks descend from them"),
    }),
  }),
  checkpoint: describe({
    summary: "Capture a session",
    effect: "write",
    input: z.strictObject({
      session: sessionRef,
      intent: z.string().max(10_000).optional().describe("What this moment is"),
      name: z.string().optional().describe("Name to find it by"),
      filesOnly: z.boolean().default(false).describe("Capture the files alone"),
      durable: z.boolean().default(false).describe("Answer only when it would survive power loss"),
    }),
    output: checkpointSchema,
  }),
  log: describe({
    summary: "Show the timeline",
    effect: "read",
    input: z.strictObject({ session: sessionRef.optional() }),
    output: z.object({
      checkpoints: z.array(checkpointSchema),
      operations: z.array(operationRecordSchema),
      sessions: z.array(sessionSchema),
    }),
  }),
  show: describe({
    summary: "Show one checkpoint in full",
    effect: "read",
    input: z.strictObject({ checkpoint: checkpointRef }),
    output: checkpointSchema.extend({
      processes: z.array(z.object({ pid: z.number().int(), command: z.string() })),
      host: z.object({ kernel: z.string(), criu: z.string(), arch: z.string() }),
      diskPath: z.string(),
    }),
  }),
  restore: describe({
    summary: "Put a session back to a checkpoint",
    effect: "destroy",
    input: z.strictObject({
      session: sessionRef,
      checkpoint: checkpointRef,
      ...lossInput,
    }),
    output: z.object({
      session: z.string(),
      checkpoint: z.string(),
      undo: z.string().nullable().describe("Checkpoint of what was there before"),
      undoContent: contentSchema.nullable().describe("What that checkpoint holds"),
      readyMs: z.number().describe("Until the session answered again"),
      totalMs: z.number().describe("With the checkpoint taken first"),
      pid: z.number().int().nullable(),
    }),
  }),
  undo: describe({
    summary: "Take the last restore back",
    effect: "destroy",
    input: z.strictObject({ session: sessionRef, ...lossInput }),
    output: z.object({
      session: z.string(),
      checkpoint: z.string(),
      undo: z.string().nullable(),
      undoContent: contentSchema.nullable(),
      readyMs: z.number(),
      totalMs: z.number(),
      pid: z.number().int().nullable(),
    }),
  }),
  fork: describe({
    summary: "Start new sessions from a checkpoint",
    effect: "write",
    input: z.strictObject({
      checkpoint: checkpointRef,
      count: z.number().int().min(1).max(256).default(1),
      name: z.string().optional().describe("Name of the fork; with a count, NAME-1, NAME-2, …"),
    }),
    output: z.object({
      sessions: z.array(
        z.object({ id: z.string(), name: z.string(), pid: z.number().int().nullable() }),
      ),
      readyMs: z.number().describe("Until all of them answered"),
    }),
  }),
  forward: describe({
    summary: "Bring a port of a session to this machine's loopback",
    effect: "write",
    input: z.strictObject({
      session: sessionRef,
      port: tcpPort.describe("Port inside the session"),
      hostPort: tcpPort.optional().describe("Port on 127.0.0.1; a free one if not given"),
    }),
    output: forwardSchema,
  }),
  "forward.list": describe({
    summary: "List the forwarded ports",
    effect: "read",
    input: z.strictObject({ session: sessionRef.optional() }),
    output: z.object({ forwards: z.array(forwardSchema) }),
  }),
  "forward.stop": describe({
    summary: "Stop forwarding a port; its open connections end",
    effect: "write",
    input: z.strictObject({ session: sessionRef, port: tcpPort }),
    output: forwardSchema,
  }),
  "daemon.status": describe({
    summary: "Show the daemon's state",
    effect: "read",
    input: z.strictObject({}),
    output: z.object({
      version: z.string(),
      pid: z.number().int(),
      stateDir: z.string(),
      startedAt: z.string(),
      sessionsRunning: z.number().int(),
      memoryBytes: z.number().int(),
      storeUsedBytes: z.number().int(),
      storeFreeBytes: z.number().int(),
    }),
  }),
  "daemon.stop": describe({
    summary: "End the daemon; the sessions live on",
    effect: "write",
    input: z.strictObject({
      sessions: z
        .boolean()
        .default(false)
        .describe("Also end all sessions and release every mount and network"),
    }),
    output: z.object({ stopped: z.literal(true) }),
  }),
} as const;

export type OperationName = keyof typeof CONTRACT;
export type OperationInput<N extends OperationName> = z.input<(typeof CONTRACT)[N]["input"]>;
export type OperationParsedInput<N extends OperationName> = z.output<(typeof CONTRACT)[N]["input"]>;
export type OperationOutput<N extends OperationName> = z.output<(typeof CONTRACT)[N]["output"]>;
