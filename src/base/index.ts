/**
 * base owns the small things that every other folder needs: processes, deadlines, rollback,
 * system calls, the state directory's layout, queues and the log.
 * It knows nothing of sessions or checkpoints. System calls: docs/notes/ has the facts about them.
 */
export { pollUntil, withDeadline } from "./deadline.ts";
export {
  closeInheritedOnExec,
  explainFullDisk,
  ioctl,
  isSystemError,
  MNT_DETACH,
  MS_NOATIME,
  MS_NODEV,
  MS_NOSUID,
  makeCharacterDevice,
  mount,
  type SystemCallError,
  setXattr,
  syncFilesystem,
  tryLockFile,
  unmount,
} from "./libc.ts";
export { createLogger, type Logger } from "./logger.ts";
export { Rollback } from "./rollback.ts";
export { type ProcessResult, type RunProcessOptions, runProcess } from "./run-process.ts";
export { SerialQueues } from "./serial-queue.ts";
export { STATE_DIR_DEFAULT, type StateLayout, stateLayout } from "./state-dir.ts";
