import { z } from "zod";
import { instantSchema } from "./ids.ts";
import { checkpointRef, sessionRef } from "./inputs.ts";

/** How long the command of a verification may take, unless it is told. */
const VERIFY_TIMEOUT_MS_DEFAULT = 10 * 60_000;
const VERIFY_TIMEOUT_MS_MAX = 86_400_000;
/** Checkpoints that one call verifies at most. */
const CHECKPOINTS_MAX = 1000;

/** Who asked for a verification: `checkpoint --verify`, `verify`, or a search. */
const askedBySchema = z.enum(["checkpoint", "verify", "bisect"]);
export type AskedBy = z.infer<typeof askedBySchema>;

/** Result of a command that was run against exactly one checkpoint. */
export const verificationSchema = z.object({
  command: z.string(),
  exitCode: z.number().int().describe("124 when it was ended because it took too long"),
  durationMs: z.number(),
  at: instantSchema,
  timedOut: z.boolean().describe("It was ended because it took too long"),
  by: askedBySchema
    .default("verify")
    .describe(
      "`checkpoint --verify`, `verify`, or a bisect, whose answers never mark a checkpoint",
    ),
  output: z
    .string()
    .describe("What it printed, stdout and stderr in order; the end of it, where that was long"),
});
export type Verification = z.infer<typeof verificationSchema>;

/** The same with how much it printed. */
export const fullVerificationSchema = verificationSchema.extend({
  outputBytes: z.number().int().describe("How much it printed, also what was not kept"),
});
export type FullVerification = z.infer<typeof fullVerificationSchema>;

/** The command that is run against checkpoints. */
export const verifyCommand = z
  .array(z.string().max(1024 * 1024))
  .min(1)
  .max(10_000)
  .describe("One word: a line of shell; several: a program and its arguments");
/** How long it may take. */
export const verifyTimeoutMs = z
  .number()
  .int()
  .positive()
  .max(VERIFY_TIMEOUT_MS_MAX)
  .default(VERIFY_TIMEOUT_MS_DEFAULT);

/** How many forks at once. */
export const verifyConcurrency = z
  .number()
  .int()
  .min(1)
  .max(64)
  .optional()
  .describe(
    "Forks at once, as memory allows; sixteen of all calls together [the number of processors]",
  );

/** What `checkpoint` is told of a verification. */
export const checkpointVerifyInput = {
  verify: z
    .union([verifyCommand, z.literal(true)])
    .optional()
    .describe(
      "Then run this, or the session's own command, in a throw-away fork of exactly this checkpoint",
    ),
  verifyTimeoutMs: verifyTimeoutMs.describe("End the verification after this time"),
  verifyWait: z.boolean().default(true).meta({
    description: "Answer with its result; else it is recorded later",
    whenFalse: "Do not wait for the verification; `waypoint show` has its result later",
  }),
};

/** What `verify` is told. */
export const verifyInput = z.strictObject({
  checkpoints: z
    .array(checkpointRef)
    .max(CHECKPOINTS_MAX)
    .default([])
    .describe("Checkpoints, each as in `waypoint show`"),
  session: sessionRef.optional().describe("Also all checkpoints of this session's timeline"),
  command: verifyCommand
    .optional()
    .describe(
      "One word: a line of shell; several: a program and its arguments [that of its session]",
    ),
  timeoutMs: verifyTimeoutMs.describe("End the command after this time, for each checkpoint"),
  concurrency: verifyConcurrency.describe(
    "Forks at once, as memory allows; sixteen of all calls together [one more than the machine has processors]",
  ),
});

/** Why a checkpoint could not be verified; as errors are elsewhere. */
const reasonSchema = z.object({
  code: z.string(),
  message: z.string(),
  hint: z.string().nullable(),
});

/** What became of one checkpoint. */
export const verifiedSchema = z.object({
  checkpoint: z.string(),
  name: z.string().nullable(),
  passed: z.boolean(),
  verification: fullVerificationSchema.nullable().describe("null when it could not be run"),
  error: reasonSchema.nullable().describe("Why it could not be run; nothing is recorded then"),
});
export type Verified = z.infer<typeof verifiedSchema>;

/** What `verify` answers. */
export const verifyOutput = z.object({
  results: z.array(verifiedSchema).describe("In the order of the checkpoints"),
  passed: z.number().int(),
  failed: z.number().int().describe("Also those that took too long"),
  notVerified: z.number().int().describe("Those in which the command could not be run"),
});

/** Why the verification that a checkpoint was asked for has no result. */
export const verifyErrorSchema = reasonSchema
  .nullable()
  .optional()
  .describe(
    "Why the verification asked for could not be run; the checkpoint is there all the same",
  );
