import { z } from "zod";
import { instantSchema } from "./ids.ts";
import {
  execInput,
  newInput,
  sessionRef,
  takenUp,
  terminalColumns,
  terminalRows,
  withoutBinds,
} from "./inputs.ts";
import { describe } from "./operation-contract.ts";
import { bindsLeftOut, execOutput } from "./outputs.ts";
import { processSchema, sessionSchema } from "./session.ts";

/** The operations on sessions and what runs in them. */
export const SESSION_CONTRACT = {
  new: describe({
    summary: "Start a session",
    description:
      "On the host's own root, files that it has not written are the host's files of now. " +
      "`waypoint base add` keeps a base that never changes.",
    errors: [
      "NAME_INVALID",
      "BASE_INVALID",
      "BASE_NOT_FOUND",
      "BIND_INVALID",
      "NAME_IN_USE",
      "SANDBOX_FAILED",
      "STORE_FULL",
      "HOST_UNSUPPORTED",
    ],
    examples: [
      ["waypoint new web", "A copy of this machine's root, named web"],
      ["waypoint new app --bind .:/src", "This directory at /src: shared, not captured"],
      ["waypoint new web --auto", "Captured after each command that changes something"],
      ["waypoint new probe --net none --cwd /srv/app", "Without any network, in /srv/app"],
    ],
    effect: "write",
    input: newInput,
    output: sessionSchema,
  }),
  ls: describe({
    summary: "List the sessions",
    examples: [["waypoint ls --json", "For programs"]],
    effect: "read",
    input: z.strictObject({}),
    output: z.object({ sessions: z.array(sessionSchema) }),
  }),
  ps: describe({
    summary: "List the processes of a session",
    errors: [
      "SESSION_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "SESSION_WRONG_STATE",
      "SESSION_UNRESPONSIVE",
    ],
    examples: [["waypoint ps web", "Processes with the ids that they have inside"]],
    effect: "read",
    input: z.strictObject({ session: sessionRef }),
    output: z.object({ session: z.string(), processes: z.array(processSchema) }),
  }),
  exec: describe({
    summary: "Run a command in a session",
    description: "It runs in the session's live shell, so cd and export persist for the next call.",
    errors: [
      "SESSION_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "SESSION_ENDED",
      "SESSION_WRONG_STATE",
      "SESSION_UNRESPONSIVE",
      "APPROVAL_DENIED",
      "APPROVAL_EXPIRED",
      "APPROVAL_NOT_FOUND",
      "APPROVAL_SETTLED",
    ],
    examples: [
      ["waypoint exec web -- npm test", "Exits with the exit code of npm"],
      ["waypoint exec web 'cd /srv && export MODE=dev'", "The next exec is still in /srv"],
      ["waypoint exec web -i -- tar x < files.tar", "Standard input goes to tar"],
      ["waypoint exec web -u postgres -e PGDATABASE=app -- psql -c '\\dt'", "As another user"],
    ],
    effect: "write",
    stream: true,
    input: execInput,
    output: execOutput,
  }),
  attach: describe({
    summary: "Connect a terminal to a session",
    description: "It survives a restore of the session and the end of the daemon.",
    errors: [
      "SESSION_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "SESSION_ENDED",
      "SESSION_WRONG_STATE",
      "SESSION_UNRESPONSIVE",
      "APPROVAL_DENIED",
      "APPROVAL_EXPIRED",
      "APPROVAL_NOT_FOUND",
      "APPROVAL_SETTLED",
    ],
    examples: [
      ["waypoint attach web", "Work in the session web"],
      ["waypoint attach web --detach-keys ctrl-a,q", "Leave with Ctrl-a, then q"],
    ],
    effect: "write",
    stream: true,
    input: z.strictObject({
      session: sessionRef,
      columns: terminalColumns,
      rows: terminalRows,
      command: z
        .array(z.string())
        .optional()
        .describe("Typed into the shell first; the attachment ends with it"),
      approval: takenUp,
    }),
    output: z.object({
      reason: z.enum(["detached", "ended", "removed"]),
      exitCode: z.number().int().nullable(),
    }),
  }),
  rename: describe({
    summary: "Give a session another name",
    description:
      "It runs on, and its host has that name, too. Checkpoints keep the name that it had when they " +
      "were taken.",
    errors: ["SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS", "NAME_INVALID", "NAME_IN_USE"],
    examples: [["waypoint rename try-2 work", "What was try-2 is work"]],
    effect: "write",
    input: z.strictObject({
      session: sessionRef,
      name: z.string().describe("Its name from now on"),
    }),
    output: z.object({ session: sessionSchema, before: z.string().describe("Its name until now") }),
  }),
  start: describe({
    summary: "Start a session again that was stopped or has ended",
    description:
      "Its processes come back from the checkpoint that it stands on. What its files were until then " +
      "is checkpointed first, unless a stop has just done so. Without such processes, or with " +
      "--fresh, a shell starts on the files as they were left.",
    errors: [
      "SESSION_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "SESSION_WRONG_STATE",
      "CHECKPOINT_NOT_FOUND",
      "CHECKPOINT_INCOMPLETE",
      "BIND_SOURCE_MISSING",
      "CRIU_RESTORE_FAILED",
      "STORE_FULL",
    ],
    examples: [
      ["waypoint start web", "As it was when it was stopped, processes too"],
      ["waypoint start web --fresh", "A shell on its files as they were left"],
    ],
    effect: "write",
    input: z.strictObject({
      session: sessionRef,
      fresh: z.boolean().default(false).describe("Bring back no processes: a shell on its files"),
      withoutBinds,
    }),
    output: z.object({
      session: sessionSchema,
      checkpoint: z.string().describe("Id of the checkpoint that it was started from"),
      takenAt: instantSchema.describe("When that was taken"),
      hasProcesses: z.boolean().describe("Its processes came back; else a shell was started"),
      undo: z.string().nullable().describe("Checkpoint of what its files were until now"),
      readyMs: z.number().describe("Until it answered"),
      bindsLeftOut,
    }),
  }),
  stop: describe({
    summary: "End a session's processes and keep its files and checkpoints",
    errors: [
      "SESSION_NOT_FOUND",
      "SESSION_WRONG_STATE",
      "SESSION_UNRESPONSIVE",
      "CRIU_DUMP_FAILED",
    ],
    examples: [["waypoint stop web", "Checkpoint it, then end its processes"]],
    effect: "destroy",
    input: z.strictObject({
      session: sessionRef,
      checkpoint: z.boolean().default(true).meta({
        description: "Checkpoint it first, to start it again from",
        whenFalse: "Do not checkpoint it first",
      }),
    }),
    output: z.object({ session: sessionSchema, checkpoint: z.string().nullable() }),
  }),
} as const;
