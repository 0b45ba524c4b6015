/**
 * base owns the small things that every other folder needs: processes, deadlines, rollback,
 * the state directory's layout, queues and the log.
 * It knows nothing of sessions or checkpoints, and makes no system call of its own (kernel).
 */

export {
  BackgroundPrograms,
  backgroundPrograms,
  type Stood,
  type Stoppable,
} from "./background-programs.ts";
export {
  type CgroupMounts,
  type Controller,
  cgroupMounts,
  readCgroupMounts,
} from "./cgroup-mounts.ts";
export { type Deferred, deferred } from "./deferred.ts";
export { fdPath } from "./fd-path.ts";
export { fileTypeOf } from "./file-type.ts";
export { hasFrozenGroup, leaveFrozenGroup } from "./frozen-group.ts";
export { isInMemory } from "./in-memory.ts";
export { killProcess } from "./kill-process.ts";
export { createLogger, type Logger } from "./logger.ts";
export { MANIFEST_FORMAT, requireKnownManifest } from "./manifest-format.ts";
export { OpenBytes } from "./open-bytes.ts";
export { closeToOthers, requireOwnStateDir } from "./own-state-dir.ts";
export { pollUntil } from "./poll-until.ts";
export type { ProcessFacts } from "./process-facts.ts";
export { noProcessLeft, processesFull, refusedProcesses } from "./processes-full.ts";
export {
  fromText,
  isAtOrBelow,
  joinRaw,
  normalText,
  type RawPath,
  toBase64,
  toBytes,
  toText,
} from "./raw-path.ts";
export { Rollback } from "./rollback.ts";
export { type ProcessResult, type RunProcessOptions, runProcess } from "./run-process.ts";
export { SerialQueues } from "./serial-queue.ts";
export { settleAll } from "./settle-all.ts";
export {
  findStandstill,
  type Standstill,
  tellStandstill,
  unresponsive,
} from "./standstill.ts";
export {
  type Child,
  type ChildDescriptor,
  type ChildOptions,
  startChild,
  startChildrenWith,
} from "./start-child.ts";
export { type RunningProgram, startProgram } from "./start-program.ts";
export { STATE_DIR_DEFAULT, type StateLayout, stateLayout } from "./state-dir.ts";
export { knownStateDirs, noteStateDir } from "./state-dirs.ts";
export { isSystemError } from "./system-error.ts";
export { TailOutput } from "./tail-output.ts";
export { withDeadline } from "./with-deadline.ts";
