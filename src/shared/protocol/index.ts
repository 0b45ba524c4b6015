/**
 * protocol owns everything that crosses a process: ids, sessions, checkpoints, the contract of
 * every operation, and the frames on the daemon's socket.
 * It holds no behaviour beyond encoding. docs/PROTOCOL.md tells the frames.
 */

export type { ApprovalInfo } from "./approval-operations.ts";
export type { AutoCause } from "./auto.ts";
export { autoCauseSchema } from "./auto.ts";
export { AUTO_POLICY_WORDS, type AutoPolicy, parseAutoPolicy } from "./auto-policy.ts";
export type { BisectBegin, BisectEvent, BisectRound, BisectTest } from "./bisect-operations.ts";
export type { Caller } from "./caller.ts";
export type { CheckpointContent, CheckpointStage, CheckpointTrigger } from "./checkpoint.ts";
export { checkpointSchema } from "./checkpoint.ts";
export { TAGS_MAX } from "./checkpoint-operations.ts";
export { type Contact, type Contacts, contactsSchema } from "./contacts.ts";
export {
  CONTRACT,
  type OperationInput,
  type OperationName,
  type OperationOutput,
  type OperationParsedInput,
} from "./contract.ts";
export { type Decision, decisionSchema } from "./decision-operations.ts";
export { type Effect, effectSchema } from "./effect-operations.ts";
export { type FileType, fileTypeSchema } from "./file-change.ts";
export { isFileNoise } from "./file-noise.ts";
export type { Place } from "./file-operations.ts";
export {
  type ControlMessage,
  encodeFrame,
  FRAME_KIND,
  FRAME_PAYLOAD_BYTES_MAX,
  type Frame,
  FrameDecoder,
  type FrameKind,
  type NoticeMessage,
  type Progress,
  type RequestMessage,
  type ToldClient,
} from "./frames.ts";
export { DESCRIBED } from "./generated/described.ts";
export type {
  AutoState,
  Bind,
  Browse,
  Changes,
  Checkpoint,
  Conflict,
  Connection,
  FileChange,
  FileTotals,
  Forward,
  FullVerification,
  GitChange,
  GrepMatch,
  Holder,
  Intent,
  KeptBase,
  LimitsHit,
  ListeningPort,
  LoggedOperation,
  NamedChange,
  OperationDetail,
  OperationRecord,
  PackageChange,
  RestoreCheck,
  RestorePlan,
  RevertPlan,
  Screen,
  Session,
  Story,
  StoryCommand,
  StoryProcess,
  Verification,
  Verified,
} from "./generated/operation-types.ts";
export { ID_LENGTH, isValidName, NAME_LENGTH_MAX } from "./ids.ts";
export type { IntentSource } from "./intent.ts";
export type { Applied, PlanOutput } from "./merge-operations.ts";
export {
  allowedPorts,
  NET_ALLOW_ENTRIES_MAX,
  NET_MODES,
  type NetAllowEntry,
  parseNetAllow,
  splitNetAllow,
} from "./net-allow.ts";
export type { OperationContract } from "./operation-contract.ts";
export { PIDS_MAX, PIDS_MIN } from "./pids.ts";
export type { FilesPut } from "./restore-operations.ts";
export type { RestoreParts } from "./restore-parts.ts";
export type {
  NetMode,
  SessionLimits,
  SessionProcess,
  SessionState,
  StandbyPolicy,
} from "./session.ts";
export {
  bindSchema,
  netModeSchema,
  sessionSchema,
  standbyPolicySchema,
} from "./session.ts";
export { type StateSummary, stateSummarySchema } from "./state.ts";
export { type ChangesSection, type MomentSection, type ScreenRun, storySchema } from "./story.ts";
export { type Task, taskSchema } from "./task-operations.ts";
export { boundedSize } from "./terminal-size.ts";
export { couldNotRun, verdictOf } from "./verdict.ts";
export { type AskedBy, fullVerificationSchema } from "./verification.ts";
export { WAYPOINT_VERSION } from "./version.ts";
