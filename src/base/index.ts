/**
 * base owns the small things that every other folder needs: processes, deadlines, rollback,
 * system calls, the state directory's layout, the log.
 * It knows nothing of sessions or checkpoints.
 */
export { pollUntil, withDeadline } from "./deadline.ts";
export { Rollback } from "./rollback.ts";
export { type ProcessResult, type RunProcessOptions, runProcess } from "./run-process.ts";
