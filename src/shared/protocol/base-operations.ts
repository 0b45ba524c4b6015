import { z } from "zod";
import { checkpointRef } from "./inputs.ts";
import { describe } from "./operation-contract.ts";

const baseName = z.string().min(1).max(200).describe("Name of the base");

/** A root filesystem that the store keeps. */
export const keptBaseSchema = z.object({
  name: z.string(),
  from: z.string().nullable().describe("What it was copied from; / is this machine's own root"),
  createdAt: z.string().nullable(),
  sizeBytes: z.number().int().nullable().describe("What its files take, before btrfs shares any"),
  isDefault: z.boolean().describe("Sessions stand on it for which no base is given"),
  sessions: z.number().int().describe("How many stand on it"),
  checkpoints: z.number().int().describe("How many stand on it"),
});

const bases = z.object({ bases: z.array(keptBaseSchema) });

const changesOutput = z.object({
  checkpoint: z.string(),
  base: z.string().describe("Name of a kept base, or its directory"),
  isLive: z.boolean().describe("Files of the base can change under the checkpoint"),
  count: z.number().int().nullable().describe("null where it is not known yet"),
  isComplete: z.boolean().describe("false: more have changed than are counted"),
  files: z
    .array(z.object({ path: z.string(), changedAt: z.string(), sizeBytes: z.number().int() }))
    .describe("Newest first; empty where only the count was asked for"),
  asOf: z.string().nullable().describe("When it was looked"),
});

/** The operations on root filesystems that the store keeps. */
export const BASE_CONTRACT = {
  "base.add": describe({
    summary: "Keep a root filesystem for sessions to stand on, which nobody changes",
    description:
      "On the host's own root, what a session has not written is the host's of now. " +
      "A kept base never changes. It is a snapshot where the store's btrfs has the directory as a " +
      "subvolume, else a copy. Files that another base has, too, are in the store once. /proc, /sys, " +
      "/dev, /run and /tmp stay empty, and Waypoint's own state is left out.",
    errors: [
      "NAME_INVALID",
      "NAME_IN_USE",
      "BASE_INVALID",
      "STORE_FULL",
      "STORE_FAILED",
      "TOOL_FAILED",
      "CANCELLED",
    ],
    examples: [
      ["waypoint base add today --from-host", "This machine as it is now"],
      ["waypoint base add lean --from-host --exclude /home --exclude /var/cache", "Without those"],
      ["waypoint base add bookworm --from /srv/bookworm", "A directory, from debootstrap for one"],
      ["waypoint base add alpine --from alpine-rootfs.tar.gz", "An archive"],
      ["waypoint new work --base today", "A session on it"],
    ],
    effect: "write",
    input: z.strictObject({
      name: baseName,
      from: z
        .string()
        .startsWith("/", "an absolute path begins with /")
        .max(4096)
        .describe("Directory of a root filesystem, or an archive of one that tar reads"),
      exclude: z
        .array(z.string().startsWith("/", "a path in the base begins with /").max(4096))
        .max(1000)
        .default([])
        .describe("Left out: a file, or all that is in a directory; as its path in the base"),
    }),
    output: keptBaseSchema,
  }),
  "base.ls": describe({
    summary: "List the kept bases",
    examples: [["waypoint base ls", "With how many sessions and checkpoints stand on each"]],
    effect: "read",
    input: z.strictObject({}),
    output: bases,
  }),
  "base.rm": describe({
    summary: "Remove a base on which nothing stands",
    errors: ["BASE_NOT_FOUND", "BASE_IN_USE"],
    examples: [["waypoint base rm today", "Sessions and checkpoints on it go first"]],
    effect: "write",
    input: z.strictObject({ base: baseName }),
    output: keptBaseSchema,
  }),
  "base.changes": describe({
    summary: "Tell which files of a live base have changed since a checkpoint",
    description:
      "A checkpoint holds no copy of what its session had not written: those are the files of now. " +
      "What was removed from the base since is not told.",
    errors: ["CHECKPOINT_NOT_FOUND", "REFERENCE_AMBIGUOUS", "TOOL_FAILED", "CANCELLED"],
    examples: [["waypoint show work@~3 --base-changes", "After all else about the checkpoint"]],
    effect: "read",
    input: z.strictObject({
      checkpoint: checkpointRef,
      path: z
        .string()
        .startsWith("/", "an absolute path begins with /")
        .max(4096)
        .optional()
        .describe("Only what lies at or below this path"),
      waitMs: z
        .number()
        .int()
        .nonnegative()
        .max(3_600_000)
        .optional()
        .describe("Only the count, and at most this long; one of half a minute ago will do"),
    }),
    output: changesOutput,
  }),
  "base.default": describe({
    summary: "Choose the base of sessions for which none is given",
    errors: ["BASE_NOT_FOUND", "STORE_FULL"],
    examples: [
      ["waypoint base default today", "Sessions stand on it from now on"],
      ["waypoint base default --none", "On the host's own root again"],
    ],
    effect: "write",
    input: z.strictObject({ base: baseName.nullable() }),
    output: bases,
  }),
} as const;
