import { z } from "zod";
import { checkpointSchema } from "./checkpoint.ts";
import { checkpointRef } from "./inputs.ts";
import { describe } from "./operation-contract.ts";
import {
  type FullVerification,
  verifyCommand,
  verifyConcurrency,
  verifyTimeoutMs,
} from "./verification.ts";

const bisectInput = z.strictObject({
  good: checkpointRef.describe(
    "Checkpoint at which the command passes; an ancestor of the bad one",
  ),
  bad: checkpointRef.describe("Checkpoint at which it fails"),
  command: verifyCommand,
  timeoutMs: verifyTimeoutMs.describe("End the command after this time, at each checkpoint"),
  timeoutMeans: z
    .enum(["bad", "skip"])
    .default("bad")
    .describe("What it says of a checkpoint when it takes too long"),
  concurrency: verifyConcurrency,
  trust: z.boolean().default(false).describe("Do not try GOOD and BAD themselves"),
  record: z.boolean().default(true).meta({
    description: "Keep what it says beside the checkpoints, as `verify` does",
    whenFalse: "Keep nothing beside the checkpoints",
  }),
  reuse: z.boolean().default(true).meta({
    description: "Take what is kept of the very same command already",
    whenFalse: "Run it also where the very same command has been run before",
  }),
});

/** A checkpoint that said nothing. */
const skippedSchema = z.object({
  checkpoint: z.string(),
  reason: z.string(),
});

const bisectOutput = z.object({
  firstBad: checkpointSchema
    .nullable()
    .describe("null where it may be any of several, because those between were skipped"),
  candidates: z.array(z.string()).describe("Each may be the first bad one; one if it is known"),
  lastGood: z.string().describe("The last one before them at which the command passes"),
  checkpoints: z.number().int().describe("How many there were to choose from, `bad` among them"),
  rounds: z.number().int(),
  forks: z.number().int().describe("Throw-away forks that were begun, also those given up"),
  reused: z.number().int().describe("Results that were known already"),
  skipped: z.array(skippedSchema),
});

/** The operation that looks for the first bad checkpoint; part of the contract. */
export const BISECT_CONTRACT = {
  bisect: describe({
    summary: "Find the first bad checkpoint between two, with a command in throw-away forks",
    description:
      "Runs the command in throw-away forks of checkpoints between GOOD and BAD, which " +
      "descends from it. Both are tried first: it must pass at GOOD and fail at BAD. Exit " +
      "codes mean what they mean to `git bisect run`: 0 good, 125 skip, others below 128 " +
      "bad. From 128 on the search stops. What the command said is " +
      "kept to be used again, but for skips, and marks no checkpoint.",
    errors: [
      "CHECKPOINT_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "CHECKPOINT_NOT_ANCESTOR",
      "BISECT_GOOD_FAILS",
      "BISECT_BAD_PASSES",
      "BISECT_STOPPED",
      "FORK_REFUSED",
    ],
    examples: [
      ["waypoint bisect green web@ -- npm test", "Where the tests began to fail"],
      ["waypoint bisect web@~40 web@ -n 4 -- pytest -q tests/api", "Four forks at once"],
      [
        'waypoint bisect green web@ -- "make || exit 125; ./check"',
        "Skips checkpoints that do not build",
      ],
    ],
    effect: "write",
    stream: true,
    input: bisectInput,
    output: bisectOutput,
  }),
} as const;

/** What `bisect` tells before its first test. */
export interface BisectBegin {
  event: "begin";
  checkpoints: number;
  roundsMax: number;
  concurrency: number;
}

/** What became of one checkpoint; of one that was given up in the middle nothing is told. */
export interface BisectTest {
  event: "test";
  /** 0 for what was known before the first round. */
  round: number;
  checkpoint: string;
  name: string | null;
  verdict: "good" | "bad" | "skip";
  /** It was run earlier, and what it said then counts. */
  isReused: boolean;
  verification: FullVerification | null;
  /** Why it could not be run; it is skipped then. */
  error: { code: string; message: string; hint: string | null } | null;
}

/** Where the search stands after a round. */
export interface BisectRound {
  event: "round";
  round: number;
  /** The last one that is known to be good, the first one that is known to be bad. */
  good: string;
  bad: string;
  /** How many may still be the first bad one. */
  left: number;
  /** Forks that were begun, and of these the ones that were given up as nobody needed them. */
  forks: number;
  cancelled: number;
}

/** One line that `bisect` sends before its result. */
export type BisectEvent = BisectBegin | BisectTest | BisectRound;
