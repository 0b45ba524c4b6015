import { z } from "zod";
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
        .startsWith("/")
        .max(4096)
        .describe("Directory of a root filesystem, or an archive of one that tar reads"),
      exclude: z
        .array(z.string().startsWith("/").max(4096))
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
