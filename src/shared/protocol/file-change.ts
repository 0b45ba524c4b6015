import { z } from "zod";

/** What a path can be. */
export const fileTypeSchema = z.enum([
  "file",
  "directory",
  "symlink",
  "fifo",
  "socket",
  "character-device",
  "block-device",
]);
export type FileType = z.infer<typeof fileTypeSchema>;

/** How many files a group or a whole comparison has. */
export const fileTotalsSchema = z.object({
  added: z.number().int().describe("Anything but directories, as in the next two"),
  modified: z.number().int(),
  deleted: z.number().int(),
  renamed: z.number().int().describe("Files and directories"),
  directories: z.number().int().describe("Added, modified and deleted ones"),
});
export type FileTotals = z.infer<typeof fileTotalsSchema>;

const rawPath = z.string().optional();

/**
 * One path that differs, or a group of paths that belong to one piece of noise.
 *
 * Names are bytes. `path` is their UTF-8 text, with U+FFFD for what is none; then `pathBase64` has
 * the exact bytes.
 */
export const fileChangeSchema = z.object({
  path: z.string().describe("Absolute, as the session sees it; after a rename, the new one"),
  pathBase64: rawPath.describe("The path's bytes, where they are not UTF-8"),
  change: z
    .enum(["added", "modified", "deleted", "renamed"])
    .describe("A renamed directory is one entry; what changed inside has entries of its own"),
  type: fileTypeSchema.describe("What it is now, or was when it was deleted"),
  typeBefore: fileTypeSchema.optional().describe("Where it was something else"),
  from: z.string().optional().describe("Path before a rename"),
  fromBase64: rawPath.describe("Its bytes, where they are not UTF-8"),
  what: z
    .array(z.enum(["content", "type", "mode", "owner", "target", "device", "attributes"]))
    .optional()
    .describe("What changed of a modified or renamed one; target: of a symbolic link"),
  sizeBefore: z.number().int().nullable().describe("Bytes; null where it was not"),
  sizeAfter: z.number().int().nullable().describe("Bytes; null where it is no more"),
  modeBefore: z.string().optional().describe("Octal, where it changed"),
  modeAfter: z.string().optional(),
  ownerBefore: z.string().optional().describe("uid:gid, where it changed"),
  ownerAfter: z.string().optional(),
  patch: z.string().optional().describe("Unified diff of a text, where it was asked for"),
  noPatch: z.enum(["binary", "too-large", "omitted"]).optional().describe("Why there is none"),
  group: z.string().optional().describe("What this group is: node_modules, cache, git, …"),
  files: z.number().int().optional().describe("How many files the group stands for"),
  totals: fileTotalsSchema.optional().describe("The same by change"),
});
export type FileChange = z.infer<typeof fileChangeSchema>;
