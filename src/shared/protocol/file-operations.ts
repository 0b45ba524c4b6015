import { z } from "zod";
import { momentRef, sessionRef } from "./inputs.ts";
import { describe } from "./operation-contract.ts";

const PATH_BYTES_MAX = 4096;
const PLACES_MAX = 1000;

const pathFields = {
  path: z
    .string()
    .max(PATH_BYTES_MAX)
    .describe("Absolute, or from the directory that the session's shell was in"),
  pathBase64: z
    .string()
    .max(2 * PATH_BYTES_MAX)
    .optional()
    .describe("The path's bytes, where they are not UTF-8; `path` is not looked at then"),
};

/** A path at a moment. */
const momentPlace = z.strictObject({ moment: momentRef, ...pathFields });
/** A path at a moment, or of the client's machine: then it is absolute. */
const anyPlace = momentPlace.extend({
  moment: momentRef.optional().describe("None for a path of the client's own machine"),
});
export type Place = z.input<typeof anyPlace>;

/** A moment's files mounted for reading. */
export const browseSchema = z.object({
  id: z.string(),
  moment: z.string().describe("Id of the checkpoint, or name of the session as it was then"),
  checkpoint: z.string().nullable().describe("null for a session as it was then"),
  path: z.string().describe("Directory where the files are mounted"),
  since: z.string(),
  bindsLeftOut: z.array(z.string()).describe("Directories that were binds: not captured"),
});
export type Browse = z.infer<typeof browseSchema>;

/** One line that `grep` found, or one file or output with a match that is not shown as lines. */
export const grepMatchSchema = z.object({
  checkpoint: z.string(),
  kind: z.enum(["file", "command", "screen", "verification"]).describe("What the text is from"),
  path: z.string().nullable().describe("Of a file: its path in the session"),
  pathBase64: z.string().optional().describe("The path's bytes, where they are not UTF-8"),
  command: z.string().nullable().describe("Of an output: the command line it is from"),
  line: z.number().int().nullable().describe("null: it matches, but not as lines (binary, -l)"),
  text: z.string().nullable().describe("The line; the end left out where it is very long"),
  until: z
    .string()
    .nullable()
    .describe(
      "Last checkpoint in which this version stands; null: not known, as where those " +
        "searched have branches, or no file",
    ),
});
export type GrepMatch = z.infer<typeof grepMatchSchema>;

/** The operations on files of any moment. */
export const FILE_CONTRACT = {
  cat: describe({
    summary: "Print files of any moment",
    description:
      "Exactly, binary files too. A relative path begins where the session's shell was. " +
      "Links are followed inside the moment.",
    errors: [
      "CHECKPOINT_NOT_FOUND",
      "SESSION_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "FILE_NOT_FOUND",
      "FILE_REFUSED",
      "FILE_FAILED",
      "CHECKPOINT_INCOMPLETE",
    ],
    examples: [
      ["waypoint cat web@~3:/srv/app.conf", "The file as it was three checkpoints ago"],
      ["waypoint cat green:data.db > data.db", "Byte for byte, from the shell's directory then"],
      ["waypoint cat web:/etc/hosts", "As it is in web now"],
    ],
    effect: "read",
    stream: true,
    input: z.strictObject({
      places: z
        .array(momentPlace)
        .min(1)
        .max(PLACES_MAX)
        .describe("Files, each a path at a moment: a checkpoint, or a session as it is now"),
    }),
    output: z.object({ files: z.number().int(), bytes: z.number().int() }),
  }),
  cp: describe({
    summary: "Copy files out of any moment, or into a live session",
    description:
      "As `cp -a`: directories with all that is in them, modes, times, attributes, links as " +
      "links, holes. Each file is replaced as a whole or not at all. Files of this machine " +
      "belong to root in the session.",
    errors: [
      "CHECKPOINT_NOT_FOUND",
      "SESSION_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "SESSION_WRONG_STATE",
      "FILE_NOT_FOUND",
      "FILE_REFUSED",
      "FILE_FAILED",
      "STORE_FULL",
      "CHECKPOINT_INCOMPLETE",
    ],
    examples: [
      ["waypoint cp web@~3:/srv/app ./app", "The directory as it was three checkpoints ago"],
      ["waypoint cp ./fix.py web:/srv/app/", "A file of this machine into web"],
      ["waypoint cp green:/srv/app web:/srv", "What is in green, into web as it runs"],
    ],
    effect: "write",
    input: z.strictObject({
      from: z
        .array(anyPlace)
        .min(1)
        .max(PLACES_MAX)
        .describe("What to copy, each a path at a moment, as of `cat`, or of this machine"),
      to: anyPlace.describe("Where to"),
      owner: z
        .string()
        .max(256)
        .optional()
        .describe("Owner of the copies: USER, UID or UID:GID, of where they go"),
    }),
    output: z.object({
      files: z.number().int(),
      directories: z.number().int(),
      others: z.number().int().describe("Symbolic links, FIFOs and further names of one file"),
      bytes: z.number().int(),
      leftOut: z
        .array(z.object({ path: z.string(), reason: z.string() }))
        .describe("What was not copied, or not as it was; the first of them"),
      leftOutCount: z.number().int(),
    }),
  }),
  browse: describe({
    summary: "Mount the files of a moment, read-only",
    description:
      "It lasts until it is ended, or the daemon's end. Links lead where they lead on this " +
      "machine. What a session had bound was not captured and is not there.",
    errors: [
      "CHECKPOINT_NOT_FOUND",
      "SESSION_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "FILE_NOT_FOUND",
      "FILE_REFUSED",
      "SANDBOX_FAILED",
      "TOOL_FAILED",
      "STORE_FULL",
      "CHECKPOINT_INCOMPLETE",
    ],
    examples: [
      ["ls $(waypoint browse web@~3)/srv", "Look around three checkpoints ago"],
      ["waypoint browse green /mnt", "On a directory of yours"],
      ["waypoint browse --end /mnt", "Unmount it"],
    ],
    effect: "write",
    input: z.strictObject({
      moment: momentRef,
      directory: z
        .string()
        .max(PATH_BYTES_MAX)
        .optional()
        .describe("An empty directory [one is made]"),
    }),
    output: browseSchema,
  }),
  "browse.list": describe({
    summary: "List what is mounted to be browsed",
    effect: "read",
    input: z.strictObject({}),
    output: z.object({ browses: z.array(browseSchema) }),
  }),
  "browse.end": describe({
    summary: "Unmount what was mounted to be browsed",
    errors: ["FILE_NOT_FOUND"],
    effect: "write",
    input: z.strictObject({
      which: z
        .string()
        .min(1)
        .max(PATH_BYTES_MAX)
        .describe("Unmount: its id, directory or checkpoint"),
    }),
    output: z.object({ ended: z.array(browseSchema) }),
  }),
  grep: describe({
    summary: "Search files and recorded outputs across checkpoints",
    description:
      "Newest first. Of the oldest checkpoint searched: all that its session had written; " +
      "of the others, what they changed; and what commands printed and the terminal showed.",
    errors: ["CHECKPOINT_NOT_FOUND", "SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS"],
    examples: [
      ["waypoint grep listen --session web", "In the whole history of web"],
      ["waypoint grep 'port: [0-9]+' --path '*.yaml' web@ web@~1", "In two checkpoints"],
      ["waypoint grep -F 'Traceback' --outputs", "In what commands printed"],
    ],
    effect: "read",
    stream: true,
    input: z.strictObject({
      pattern: z.string().max(10_000).describe("An extended regular expression, as of grep -E"),
      checkpoints: z
        .array(momentRef)
        .max(PLACES_MAX)
        .default([])
        .describe("Checkpoints to search [all]"),
      session: sessionRef.optional().describe("The history of this session"),
      path: z
        .string()
        .max(PATH_BYTES_MAX)
        .optional()
        .describe("Only files that it fits: a name (*.py), or a path with slashes"),
      in: z
        .enum(["files", "outputs", "both"])
        .default("both")
        .describe("What to search: files, what commands printed and the terminal showed, or both"),
      ignoreCase: z.boolean().default(false).describe("Upper and lower case are the same"),
      fixed: z.boolean().default(false).describe("The pattern is plain text"),
      list: z.boolean().default(false).describe("Name what matches, without lines"),
    }),
    output: z.object({
      matches: z.number().int(),
      checkpoints: z.number().int().describe("How many were searched"),
      files: z.number().int().describe("How many versions of files were searched"),
      unread: z.array(z.string()).describe("What could not be searched, each with why"),
    }),
  }),
} as const;
