/**
 * client owns the way to the daemon: connecting, starting it when none runs, calling operations,
 * and the objects of the SDK on top of that.
 * It decides nothing and knows nothing of the engine; it must load fast, so no zod at run time.
 * docs/sdk.md teaches the SDK, docs/PROTOCOL.md the frames.
 */
export type { AgentState, ReadStateOptions, StateSchema, StateUpdate } from "./agent-state.ts";
export { ApprovalWatch, type WatchOptions } from "./approval-watch.ts";
export type { ApprovalAnswer, Approvals } from "./approvals.ts";
export { type ApprovalDecision, type OnApproval, ProgramAsker } from "./ask-program.ts";
export type { AddBaseOptions, Bases } from "./bases.ts";
export type { BisectOptions } from "./bisect.ts";
export { type CallOptions, callOperation } from "./call-operation.ts";
export { Checkpoint } from "./checkpoint.ts";
export { type CollectOptions, collectOutput } from "./collect-output.ts";
export { type Compensated, compensateEffects } from "./compensate.ts";
export { type ConnectOptions, connectDaemon } from "./connect.ts";
export { eachLine } from "./each-line.ts";
export type { EffectListOptions, EffectOptions } from "./effects.ts";
export {
  type CopyOptions,
  copyRequest,
  type FilePath,
  type FilePlace,
  type GrepOptions,
  grepMatches,
  type MomentReference,
  readPlaces,
} from "./file-operations.ts";
export { findSession } from "./find-session.ts";
export type { Forks } from "./forks.ts";
export type { ContactOptions, LessonOptions, NewDecision } from "./forwarded-session.ts";
export { openExec } from "./held-stream.ts";
export { makeStateDir } from "./make-state-dir.ts";
export { type OperationStream, openStream, type StreamEvent } from "./operation-stream.ts";
export type {
  AttachOptions,
  AutoOptions,
  CallControl,
  CheckpointOptions,
  DiffOptions,
  ExecOptions,
  ForkOptions,
  ForwardOptions,
  LogOptions,
  NewOptions,
  PlanOptions,
  RestoreOptions,
  RevertOptions,
  RevertPlanOptions,
  SpawnOptions,
  StartOptions,
  UndoOptions,
  VerifyOptions,
} from "./options.ts";
export { declareSurface } from "./own-surface.ts";
export { findPackageRoot } from "./package-root.ts";
export {
  attempt,
  type BestOfOptions,
  bestOf,
  type Comparison,
  compare,
  type Strategy,
  type Winner,
} from "./patterns.ts";
export { RunningCommand } from "./running-command.ts";
export { Session } from "./session.ts";
export { resolveStateDir } from "./state-dir.ts";
export type { NewTask, TaskEnd, TaskOutcome, Tasks } from "./tasks.ts";
export type { VerifyCommand } from "./verify.ts";
export { type OpenOptions, Waypoint } from "./waypoint.ts";
