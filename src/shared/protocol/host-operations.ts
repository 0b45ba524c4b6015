import { z } from "zod";
import { describe } from "./operation-contract.ts";

/** The operations on the daemon. */
export const HOST_CONTRACT = {
  "daemon.status": describe({
    summary: "Show the daemon's state",
    examples: [["waypoint daemon status", "Its process, its sessions and its store"]],
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
      warmMemory: z
        .object({
          heldBytes: z.number().int(),
          wantedBytes: z
            .number()
            .int()
            .describe(
              "What is to be ready for the next checkpoint: what its pause may write, and some room",
            ),
        })
        .describe(
          "Memory that is kept at hand for the next images, within their budget; the kernel takes it when anything else needs it, and the daemon what a pause copies small pieces into, 16 MiB a session at most",
        ),
      networks: z.object({
        readyCount: z.number().int().describe("Made in advance: the next session takes one"),
        makerCount: z
          .number()
          .int()
          .describe("Programs that make links; one that has had nothing to do for a while ends"),
      }),
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
    examples: [
      ["waypoint daemon stop", "The next command starts it again"],
      ["waypoint daemon stop --sessions", "Before the machine is handed on"],
    ],
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
