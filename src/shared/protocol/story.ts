import { z } from "zod";
import { fileChangeSchema, fileTotalsSchema } from "./file-change.ts";
import { instantSchema } from "./ids.ts";
import { intentSchema } from "./intent.ts";

/** Something before and after; `null` where there was none. */
const beforeAfter = z.object({ before: z.string().nullable(), after: z.string().nullable() });

/** A package of one of the package managers that a session can have. */
export const packageChangeSchema = z.object({
  manager: z.enum(["dpkg", "npm", "pip", "cargo", "gem", "go"]),
  name: z.string(),
  change: z.enum(["installed", "removed", "upgraded", "downgraded"]),
  before: z.string().nullable().describe("Version before; null when it was not installed"),
  after: z.string().nullable().describe("Version after; null when it was removed"),
  path: z.string().nullable().describe("Project or environment it is in; null for the system's"),
  dependency: z
    .boolean()
    .optional()
    .describe("true: it came or went because of another one, and nobody asked for it"),
});
export type PackageChange = z.infer<typeof packageChangeSchema>;

/** A port that a process listens on. */
export const listeningPortSchema = z.object({
  protocol: z.enum(["tcp", "udp", "unix"]),
  address: z.string().describe("Address or socket path"),
  port: z.number().int().nullable(),
  pid: z.number().int().nullable().describe("Owner, by its process id inside the session"),
  command: z.string().nullable(),
});
export type ListeningPort = z.infer<typeof listeningPortSchema>;

/** An open connection to the outside of the session. */
export const connectionSchema = z.object({
  protocol: z.enum(["tcp", "udp"]),
  local: z.string(),
  remote: z.string(),
  pid: z.number().int().nullable(),
  command: z.string().nullable(),
});
export type Connection = z.infer<typeof connectionSchema>;

/** A process as the images of a checkpoint tell it. */
export const storyProcessSchema = z.object({
  pid: z.number().int().describe("Process id inside the session"),
  parentPid: z.number().int(),
  programId: z
    .string()
    .describe(
      "Random bytes that the kernel gave its program at its start; with the pid, its identity",
    ),
  command: z.string().describe("Its command line; the end left out where it is very long"),
  cwd: z.string().nullable(),
  user: z.string().nullable(),
  memoryBytes: z.number().int().nullable().describe("What it has for itself, without files"),
});
export type StoryProcess = z.infer<typeof storyProcessSchema>;

/** A name that was set, changed or taken away: a variable, a shell function. */
export const namedChangeSchema = z.object({
  name: z.string(),
  change: z.enum(["added", "modified", "deleted"]),
  ...beforeAfter.shape,
});
export type NamedChange = z.infer<typeof namedChangeSchema>;

/** What happened to a git repository. */
export const gitChangeSchema = z.object({
  path: z.string().describe("Top directory of the repository"),
  branch: beforeAfter,
  head: beforeAfter.describe("Commit ids"),
  dirty: z.object({ before: z.boolean().nullable(), after: z.boolean().nullable() }),
  commits: z
    .array(z.object({ id: z.string(), subject: z.string(), author: z.string(), at: instantSchema }))
    .describe("Made between the two, oldest first"),
});
export type GitChange = z.infer<typeof gitChangeSchema>;

/**
 * What differs between two moments, each section on its own.
 *
 * A section that could not be read is `null`, and `unknown` says why. One that was read and in
 * which nothing changed is empty.
 */
export const changesSchema = z.object({
  summary: z
    .string()
    .describe("In brief, what matters first: redis up, ~ config.json, flask installed, +3 files"),
  files: z.array(fileChangeSchema).nullable(),
  fileTotals: fileTotalsSchema.nullable().describe("How many there are, also beyond the list"),
  packages: z.array(packageChangeSchema).nullable(),
  processes: z
    .object({
      started: z.array(storyProcessSchema),
      ended: z.array(storyProcessSchema),
      still: z.array(storyProcessSchema).describe("There before and after"),
    })
    .nullable(),
  ports: z
    .object({ opened: z.array(listeningPortSchema), closed: z.array(listeningPortSchema) })
    .nullable(),
  connections: z
    .object({ opened: z.array(connectionSchema), closed: z.array(connectionSchema) })
    .nullable(),
  env: z.array(namedChangeSchema).nullable().describe("Variables of the shell"),
  functions: z.array(namedChangeSchema).nullable().describe("Functions of the shell"),
  cwd: beforeAfter.nullable().describe("Directory of the shell"),
  virtualenv: beforeAfter.nullable().describe("Activated Python environment"),
  git: z.array(gitChangeSchema).nullable(),
  unknown: z
    .record(z.string(), z.string())
    .describe("Sections that are null, and parts that are missing in others, each with why"),
});
export type Changes = z.infer<typeof changesSchema>;

/** The sections of changes that are read from two moments. */
export const changesSectionSchema = z.enum([
  ...(["files", "packages", "processes", "ports", "connections"] as const),
  ...(["env", "functions", "cwd", "virtualenv", "git"] as const),
]);
export type ChangesSection = z.infer<typeof changesSectionSchema>;

/** A number of the palette (0 to 255), or `#rrggbb`. */
const colorSchema = z.union([z.number().int().min(0).max(255), z.string().regex(/^#[0-9a-f]{6}$/)]);

/** Cells of a line that follow one another and look alike. */
const screenRunSchema = z.object({
  text: z.string(),
  columns: z.number().int().describe("How many it takes: a wide character takes two"),
  color: colorSchema.optional().describe("Left out: the terminal's own"),
  background: colorSchema.optional().describe("Left out: the terminal's own"),
  style: z
    .array(
      z.enum([
        ...(["bold", "dim", "italic", "underline", "blink"] as const),
        ...(["inverse", "hidden", "strikethrough", "overline"] as const),
      ]),
    )
    .optional(),
});
export type ScreenRun = z.infer<typeof screenRunSchema>;

/** The terminal's screen as it looked at that moment. */
export const screenSchema = z.object({
  columns: z.number().int(),
  rows: z.number().int(),
  lines: z.array(z.string()).describe("As text, without colours"),
  cells: z
    .array(z.array(screenRunSchema))
    .describe("The same lines in runs of cells that look alike: text, columns, colours"),
  ansi: z.string().describe("What paints it on an empty terminal, with colours"),
  cursor: z.object({ column: z.number().int(), row: z.number().int() }),
});
export type Screen = z.infer<typeof screenSchema>;

/** A command that was run since the parent. */
export const storyCommandSchema = z.object({
  command: z.string(),
  by: z.enum(["exec", "terminal"]),
  startedAt: instantSchema,
  durationMs: z.number().nullable().describe("null while it runs"),
  exitCode: z.number().int().nullable(),
  output: z.string().describe("The end of it, where it was long"),
  outputBytes: z.number().int().describe("How long it was"),
});
export type StoryCommand = z.infer<typeof storyCommandSchema>;

/** What one checkpoint tells: what was meant, what changed since its parent, how it looked. */
export const storySchema = z.object({
  checkpoint: z.string(),
  parent: z.string().nullable().describe("What it is compared with; null: with a fresh session"),
  builtAt: instantSchema,
  tookMs: z.number(),
  changes: changesSchema,
  intent: intentSchema.nullable().describe("null when nothing tells it, or unknown"),
  terminal: screenSchema.nullable(),
  commands: z.array(storyCommandSchema).nullable(),
  unknown: z.record(z.string(), z.string()).describe("Sections that are null, each with why"),
});
export type Story = z.infer<typeof storySchema>;

/** The sections of a story that are read from one moment. */
export type MomentSection = "intent" | "terminal" | "commands";
