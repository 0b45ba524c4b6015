import { z } from "zod";
import { checkpointRef, sessionRef } from "./inputs.ts";
import { describe } from "./operation-contract.ts";
import { verifyCommand, verifyInput, verifyOutput } from "./verification.ts";

/** The operations of running a command against checkpoints. */
export const VERIFY_CONTRACT = {
  verify: describe({
    summary: "Run a command against checkpoints, each in a throw-away fork",
    description:
      "The command runs in the shell of that very moment. Nothing it does to files, " +
      "processes or memory reaches the session. The result is kept beside the checkpoint, " +
      "where `show` and `log` tell it. The ✓ or ✗ of a checkpoint is what its own command " +
      "said last. Where its session has a verify command that is this one; else that of " +
      "`checkpoint --verify`; else the first one here that came to a verdict. Exit codes " +
      "from 126 on, signals and timeouts are none.",
    errors: ["CHECKPOINT_NOT_FOUND", "SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS"],
    examples: [
      ["waypoint verify web@ -- npm test", "Whether the tests pass where web stands"],
      ["waypoint verify green web@~2 --timeout 60 -- make check", "Two checkpoints, a minute each"],
      [
        "waypoint verify --session web -n 4 -- pytest -q",
        "All of the timeline of web, four at once",
      ],
    ],
    effect: "write",
    stream: true,
    input: verifyInput,
    output: verifyOutput,
  }),
  "verify.set": describe({
    summary: "Choose the command that a session is verified with",
    description:
      "Forks made from then on have it, too. Results that are there stay. Automatic " +
      "checkpoints are verified in the background, when no operation has ended for some " +
      "seconds. Operations put that off for half a minute at most. One that runs stands beside " +
      "them, for half of its time at most; no time limit counts that. Of each session the " +
      "newest twenty, newest first, one at a time. One that stood and failed is run once more.",
    errors: ["SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS", "STORE_FULL"],
    examples: [
      ["waypoint verify --set web -- npm test", "What `checkpoint web --verify` then runs"],
      ["waypoint verify --unset web", "No command any more"],
    ],
    effect: "write",
    input: z.strictObject({
      session: sessionRef,
      command: verifyCommand.nullable().describe("The command, as of `verify`; null for none"),
      automatic: z.boolean().default(true).meta({
        description: "Also run it against automatic checkpoints, in the background",
        whenFalse: "Do not run it against automatic checkpoints by itself",
      }),
    }),
    output: z.object({
      session: z.string(),
      name: z.string(),
      verifyCommand: z.string().nullable().describe("As a line of the session's shell"),
      automatic: z.boolean().describe("Automatic checkpoints are verified with it by themselves"),
    }),
  }),
  "verify.forget": describe({
    summary: "Forget what verifications said of checkpoints, and with it their marks",
    errors: ["CHECKPOINT_NOT_FOUND", "REFERENCE_AMBIGUOUS", "STORE_FULL"],
    examples: [
      ["waypoint verify --forget web@", "All that is kept of where web stands"],
      ["waypoint verify --forget web@~1 -- npm test", "Only what npm test said"],
    ],
    effect: "destroy",
    input: z.strictObject({
      checkpoints: z.array(checkpointRef).min(1).max(1000).describe("As of `verify`"),
      command: verifyCommand.optional().describe("Only what this command said [all]"),
    }),
    output: z.object({
      forgotten: z.number().int().describe("Verifications that were kept until now"),
    }),
  }),
} as const;
