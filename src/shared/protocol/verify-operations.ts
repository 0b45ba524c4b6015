import { describe } from "./operation-contract.ts";
import { verifyInput, verifyOutput } from "./verification.ts";

/** The operation that runs a command against checkpoints. */
export const VERIFY_CONTRACT = {
  verify: describe({
    summary: "Run a command against checkpoints, each in a throw-away fork",
    effect: "write",
    stream: true,
    input: verifyInput,
    output: verifyOutput,
  }),
} as const;
