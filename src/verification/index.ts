/**
 * verification owns running a command against exactly one checkpoint: in a throw-away fork, within
 * bounds of time and memory, and keeping what came of it beside the checkpoint.
 * run-in-fork.ts is the core, which records nothing.
 */
export { readVerifications } from "./keep-verification.ts";
export { VerificationRuns } from "./verification-runs.ts";
export { verifyInBackground } from "./verify-checkpoint.ts";
export { verifyMany } from "./verify-many.ts";
