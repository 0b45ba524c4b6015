import { z } from "zod";
import { instantSchema } from "./ids.ts";

/**
 * `running`: its processes live. `stopped`: files only, by the user's wish.
 * `ended`: its processes died by themselves; files are kept.
 */
export const sessionStateSchema = z.enum(["running", "stopped", "ended"]);
export type SessionState = z.infer<typeof sessionStateSchema>;

/** How a session reaches the network: through the host, not at all, or as the host. */
export const netModeSchema = z.enum(["nat", "none", "host"]);
export type NetMode = z.infer<typeof netModeSchema>;

/** What a session may use at most; `null` where it has no limit. */
export const limitsSchema = z.object({
  memoryBytes: z.number().int().nullable(),
  cpus: z.number().nullable(),
  pids: z.number().int().nullable(),
});
export type SessionLimits = z.infer<typeof limitsSchema>;

/** How often a session's processes have come up against its limits. */
export const limitsHitSchema = z.object({
  memory: z.number().int().describe("Processes that the kernel ended for want of memory"),
  pids: z.number().int().describe("Processes that could not be started"),
});
export type LimitsHit = z.infer<typeof limitsHitSchema>;

/** A session as `ls` and `new` print it. */
export const sessionSchema = z.object({
  id: z.string(),
  name: z.string(),
  state: sessionStateSchema,
  base: z.string().describe("Root filesystem under the session"),
  net: netModeSchema,
  user: z.string().describe("User that its shell runs as"),
  cwd: z.string().describe("Directory in which its first shell started"),
  createdAt: instantSchema,
  head: z.string().nullable().describe("Newest checkpoint, or the one restored or forked from"),
  forkedFrom: z.string().nullable().describe("Checkpoint it was forked from"),
  shell: z.string().nullable().describe("Path of its shell in the base; null for bash or sh"),
  limits: limitsSchema,
  limitsHit: limitsHitSchema.nullable().describe("Since its processes started; null without any"),
  pid: z.number().int().nullable().describe("PID 1 of the session, as the host sees it"),
  address: z.string().nullable().describe("Its address on the host's side, with --net nat"),
  memoryBytes: z.number().int().nullable().describe("Resident memory of all its processes"),
});
export type Session = z.infer<typeof sessionSchema>;

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
