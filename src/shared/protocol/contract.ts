import { z } from "zod";
import { AUTO_CONTRACT } from "./auto.ts";
import { BISECT_CONTRACT } from "./bisect.ts";
import { checkpointSchema } from "./checkpoint.ts";
import { FILE_CONTRACT } from "./file-operations.ts";
import { GOING_BACK_CONTRACT } from "./going-back.ts";
import {
  checkpointRef,
  diffInput,
  execInput,
  logInput,
  newInput,
  pidsInput,
  sessionRef,
  tcpPort,
  withoutBinds,
} from "./inputs.ts";
import { logOutput } from "./log.ts";
import { MERGE_CONTRACT } from "./merge-operations.ts";
import { describe } from "./operation-contract.ts";
import { bindsLeftOut, execOutput } from "./outputs.ts";
import { REMOVE_CONTRACT } from "./remove-operations.ts";
import {
  bindSchema,
  forwardSchema,
  limitsSchema,
  processSchema,
  sessionSchema,
  standbyPolicySchema,
} from "./session.ts";
import { changesSchema, storySchema } from "./story.ts";
import { TERMINAL_COLUMNS_MAX, TERMINAL_ROWS_MAX } from "./terminal-size.ts";
import {
  checkpointVerifyInput,
  fullVerificationSchema,
  verifyErrorSchema,
  verifyInput,
  verifyOutput,
} from "./verification.ts";

/**
 * Every operation of Waypoint, described once and found by its name: the daemon validates with it,
 * the command line, the SDK and the documents derive from it.
 */
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
  rm: describe({
    summary: "Remove a session, its files and its checkpoints",
    effect: "destroy",
    input: z.strictObject({
      session: sessionRef,
      force: z.boolean().default(false).describe("Also when it is running or browsed"),
    }),
    output: z.object({
      session: z.string(),
      name: z.string(),
      checkpointsRemoved: z.number().int(),
      checkpointsKept: z.number().int().describe("Kept because forks descend from them"),
    }),
  }),
  ...REMOVE_CONTRACT,
  checkpoint: describe({
    summary: "Capture a session",
    effect: "write",
    stream: true,
    input: z.strictObject({
      session: sessionRef,
      intent: z.string().max(10_000).optional().describe("What this moment is"),
      agentSaid: z
        .string()
        .max(10_000)
        .optional()
        .describe("The last message or tool call of the agent that works there"),
      name: z.string().optional().describe("Name to find it by"),
      filesOnly: z.boolean().default(false).describe("Capture the files alone"),
      durable: z
        .boolean()
        .default(false)
        .describe("Answer only when it is in the store, which on a disk survives power loss"),
      ...checkpointVerifyInput,
    }),
    output: checkpointSchema.extend({ verifyError: verifyErrorSchema }),
  }),
  verify: describe({
    summary: "Run a command against checkpoints, each in a throw-away fork",
    effect: "write",
    stream: true,
    input: verifyInput,
    output: verifyOutput,
  }),
  ...BISECT_CONTRACT,
  log: describe({
    summary: "Show the timeline",
    effect: "read",
    input: logInput,
    output: logOutput,
  }),
  show: describe({
    summary: "Show one checkpoint in full",
    effect: "read",
    input: z.strictObject({ checkpoint: checkpointRef }),
    output: checkpointSchema.extend({
      changes: changesSchema.describe("What differs from the parent"),
      story: storySchema
        .omit({ checkpoint: true, changes: true })
        .describe("What it tells besides the changes"),
      verifications: z.array(fullVerificationSchema).describe("All that are kept, newest first"),
      processes: z
        .array(z.object({ pid: z.number().int(), command: z.string() }))
        .nullable()
        .describe("What it would bring back; null when the images of that cannot be read"),
      host: z.object({ kernel: z.string(), criu: z.string(), arch: z.string() }),
      binds: z.array(bindSchema).describe("Directories of the host that it does not hold"),
      limits: limitsSchema.describe("What a session that is made from it may use"),
      diskPath: z
        .string()
        .describe("Its directory in the daemon's mounts, which others may not see; see browse"),
    }),
  }),
  diff: describe({
    summary: "Show what differs between two moments",
    effect: "read",
    input: diffInput,
    output: changesSchema.extend({
      from: z.string().describe("Id of the checkpoint, or name of the session as it is now"),
      to: z.string(),
    }),
  }),
  ...FILE_CONTRACT,
  ...AUTO_CONTRACT,
  ...GOING_BACK_CONTRACT,
  ...MERGE_CONTRACT,
  fork: describe({
    summary: "Start new sessions from a checkpoint",
    effect: "write",
    input: z.strictObject({
      checkpoint: checkpointRef,
      count: z.number().int().min(1).max(256).default(1),
      name: z.string().optional().describe("Name of the fork; with a count, NAME-1, NAME-2, …"),
      pids: pidsInput.describe("Processes and threads at most; null: any number [its origin's]"),
      withoutBinds,
    }),
    output: z.object({
      sessions: z.array(
        z.object({ id: z.string(), name: z.string(), pid: z.number().int().nullable() }),
      ),
      readyMs: z.number().describe("Until all of them answered"),
      bindsLeftOut,
    }),
  }),
  forward: describe({
    summary: "Bring a port of a session to this machine's loopback, or to another session's",
    effect: "write",
    input: z.strictObject({
      session: sessionRef,
      port: tcpPort.describe("Port inside the session"),
      hostPort: tcpPort.optional().describe("Port on 127.0.0.1; a free one if not given"),
      to: sessionRef.optional().describe("Session that is to reach it; this machine if not given"),
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
    input: z.strictObject({ session: sessionRef, port: tcpPort, to: sessionRef.optional() }),
    output: forwardSchema,
  }),
  standby: describe({
    summary: "Show or choose what is kept ready to restore and fork a session at once",
    effect: "write",
    input: z.strictObject({ session: sessionRef, policy: standbyPolicySchema.optional() }),
    output: z.object({
      session: z.string(),
      policy: z.string(),
      isDefault: z.boolean().describe("Nothing else was chosen for this session"),
      ready: z.array(z.string()).describe("Checkpoints that can be restored or forked at once"),
      reason: z.string().nullable().describe("Why nothing is kept at the moment"),
    }),
  }),
  "daemon.status": describe({
    summary: "Show the daemon's state",
    effect: "read",
    input: z.strictObject({}),
    output: z.object({
      version: z.string(),
      pid: z.number().int(),
      stateDir: z.string(),
      isStateInMemory: z.boolean().describe("Then nothing durable survives the machine's end"),
      startedAt: z.string(),
      sessionsRunning: z.number().int(),
      memoryBytes: z.number().int(),
      storeUsedBytes: z.number().int(),
      storeFreeBytes: z.number().int(),
      storeHealth: z.object({
        state: z
          .enum(["writable", "read-only", "unusable"])
          .describe("unusable: it cannot be mounted; the catalog can still be read"),
        reason: z.string().nullable(),
      }),
      imagesUsedBytes: z.number().int().describe("Memory that process images take"),
      imagesBudgetBytes: z.number().int().describe("Memory that they may take"),
      standbys: z.object({
        count: z.number().int(),
        memoryBytes: z.number().int(),
        budgetBytes: z.number().int(),
        policy: z.string(),
        reason: z.string().nullable().describe("Why nothing is kept at the moment"),
      }),
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
