/**
 * verify owns running a command against exactly one checkpoint: in a throw-away fork, within
 * bounds of time and memory, and keeping what came of it beside the checkpoint.
 * runInFork is the core, which records nothing.
 */
export { AutomaticVerifier } from "./automatic-verifier.ts";
export { forgetVerifications, keepVerification, readVerifications } from "./keep-verification.ts";
export { runInFork } from "./run-in-fork.ts";
export { verifyInBackground } from "./verify-checkpoint.ts";
export { verifyMany } from "./verify-many.ts";
