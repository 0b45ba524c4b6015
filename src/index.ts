/**
 * The SDK of Waypoint: live computers that a program can capture, put back and fork.
 *
 * docs/sdk.md teaches it. Everything is typed from the contract that the daemon validates with.
 */
export {
  type AttachOptions,
  type CallControl,
  Checkpoint,
  type CheckpointOptions,
  type DiffOptions,
  type ExecOptions,
  type ForkOptions,
  type ForwardOptions,
  type LogOptions,
  type NewOptions,
  type OpenOptions,
  type OperationStream,
  type RestoreOptions,
  Session,
  type StreamEvent,
  Waypoint,
} from "./client/index.ts";
export {
  type ErrorCode,
  type ErrorDetail,
  type ErrorWire,
  hasCode,
  WaypointError,
} from "./errors/index.ts";
export type {
  Bind,
  Changes,
  Checkpoint as CheckpointInfo,
  CheckpointContent,
  CheckpointStage,
  CheckpointTrigger,
  ControlMessage,
  FileChange,
  Forward,
  GitChange,
  NetMode,
  OperationInput,
  OperationName,
  OperationOutput,
  OperationRecord,
  PackageChange,
  Screen,
  Session as SessionInfo,
  SessionProcess,
  SessionState,
  Story,
  StoryCommand,
} from "./protocol/index.ts";
