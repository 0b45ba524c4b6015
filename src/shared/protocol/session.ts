import { z } from "zod";
import { autoStateSchema } from "./auto.ts";
import { instantSchema } from "./ids.ts";
import { NET_MODES } from "./net-allow.ts";

/**
 * `running`: its processes live. `stopped`: files only, by the user's wish.
 * `ended`: its processes died by themselves; files are kept.
 */
export const sessionStateSchema = z.enum(["running", "stopped", "ended"]);
export type SessionState = z.infer<typeof sessionStateSchema>;

/**
 * What is kept on standby for a session: nothing, its head and what an undo goes back to, or that
 * and so many of its newest checkpoints.
 */
export const standbyPolicySchema = z
  .string()
  .regex(/^(off|head|[1-9]|1[0-6])$/, "off, head, or a number from 1 to 16");
export type StandbyPolicy = z.infer<typeof standbyPolicySchema>;

/** How a session reaches the network: through the host, not at all, or as the host. */
export const netModeSchema = z.enum(NET_MODES);
export type NetMode = z.infer<typeof netModeSchema>;

/** A directory of the host inside a session. It is shared with the host, never captured. */
export const bindSchema = z.object({
  source: z.string().describe("Directory of the host"),
  target: z.string().describe("Where it is inside the session"),
  readOnly: z.boolean(),
});
export type Bind = z.infer<typeof bindSchema>;

/** What a session may use at most; `null` where it has no limit. */
export const limitsSchema = z.object({
  memoryBytes: z.number().int().nullable(),
  cpus: z.number().nullable(),
  pids: z.number().int().nullable(),
  diskBytes: z.number().int().nullable().describe("Share of the store; null for the default"),
});
export type SessionLimits = z.infer<typeof limitsSchema>;

/** How often a session's processes have come up against its limits. */
export const limitsHitSchema = z.object({
  memory: z.number().int().describe("Processes that the kernel ended for want of memory"),
  pids: z.number().int().describe("Processes that could not be started"),
  cpuHeldBackMs: z.number().int().describe("Time for which processes had to wait, added up"),
});
export type LimitsHit = z.infer<typeof limitsHitSchema>;

/** A session as `ls` and `new` print it. */
export const sessionSchema = z.object({
  id: z.string().describe("Its id for ever, also after a restore"),
  name: z.string().describe("Its name, which no other session has"),
  state: sessionStateSchema.describe(
    "stopped: by `stop`; ended: its processes died by themselves; files are kept",
  ),
  base: z.string().describe("Root filesystem under the session"),
  net: netModeSchema.describe(
    "How it reaches the network: through the host, not at all, or as the host",
  ),
  allow: z
    .array(z.string())
    .nullable()
    .describe("Names and addresses that it may reach, and nothing else; null: everything"),
  user: z.string().describe("User that its shell runs as"),
  cwd: z.string().describe("Directory in which its first shell started"),
  binds: z.array(bindSchema).describe("Directories of the host inside it: not captured"),
  hostMounts: z.array(z.string()).describe("Mounts of the host of which it has a private copy"),
  createdAt: instantSchema.describe("When it was started or forked"),
  head: z.string().nullable().describe("Newest checkpoint, or the one restored or forked from"),
  forkedFrom: z.string().nullable().describe("Checkpoint it was forked from"),
  shell: z.string().nullable().describe("Path of its shell in the base; null for bash or sh"),
  limits: limitsSchema.describe("What it may use at most; null where it has no limit"),
  standby: z.string().nullable().describe("What is kept on standby; null for the daemon's default"),
  verifyCommand: z
    .string()
    .nullable()
    .describe("Its verify command, as a line of its shell; null where none was chosen"),
  verifyAutomatic: z.boolean().describe("That command is run against automatic checkpoints, too"),
  auto: autoStateSchema.describe("Its automatic checkpoints"),
  attached: z
    .object({
      count: z.number().int().describe("Terminals that are attached to it"),
      lastKeyAt: instantSchema
        .nullable()
        .describe("When somebody last typed at one of them; null: not since the daemon started"),
    })
    .describe("Who is at its terminal"),
  limitsHit: limitsHitSchema
    .nullable()
    .describe("Since its processes started, until they ended; null without limits"),
  pid: z.number().int().nullable().describe("PID 1 of the session, as the host sees it"),
  address: z.string().nullable().describe("Its address on the host's side, with --net nat"),
  memoryBytes: z.number().int().nullable().describe("Resident memory of all its processes"),
  disk: z
    .object({
      usedBytes: z.number().int().describe("By its files, its checkpoints and their images"),
      shareBytes: z.number().int().describe("What its programs may make of that"),
    })
    .nullable()
    .describe("What it takes of the store; null where that is not counted"),
  silence: z
    .string()
    .nullable()
    .describe('Why a running session does not answer, such as "is stopped by a signal", or null'),
  filling: z.boolean().describe("True while a lazy restore still brings its memory"),
});
export type Session = z.infer<typeof sessionSchema>;

/** A port of a session that can be reached on the host's loopback, or on another session's. */
export const forwardSchema = z.object({
  session: z.string(),
  sessionName: z.string(),
  port: z.number().int().describe("Port inside the session"),
  hostPort: z.number().int().describe("Port on 127.0.0.1 of this machine, or of the session `to`"),
  to: z.string().nullable().describe("Session that reaches the port; null for this machine"),
  toName: z.string().nullable(),
  listening: z
    .boolean()
    .describe("False when another program has taken the port meanwhile, or `to` does not run"),
  answered: z.boolean().describe("Whether a program in the session listens on its port now"),
});
export type Forward = z.infer<typeof forwardSchema>;

/** A process of a session as `ps` prints it. */
export const processSchema = z.object({
  pid: z.number().int().describe("Process id inside the session"),
  hostPid: z.number().int(),
  parentPid: z.number().int().describe("Parent's process id inside the session"),
  user: z.string(),
  state: z.string().describe("One letter as in ps(1)"),
  memoryBytes: z.number().int(),
  startedAt: instantSchema,
  command: z.string(),
});
export type SessionProcess = z.infer<typeof processSchema>;
