/**
 * model owns the records of a history, each described once: what the catalog, a manifest and a session's file
 * hold is of these, and what they tell is shared/protocol's.
 */

export { type BaseRecord, baseRecordSchema } from "./base.ts";
export {
  type CheckpointRow,
  checkpointRecordSchema,
  TIMELINE_COLUMNS,
  type TimelineRow,
  tagsOf,
} from "./checkpoint.ts";
export type { ExtraMounts } from "./extra-mounts.ts";
export type { ForwardRow } from "./forward.ts";
export type { InstanceRow } from "./instance.ts";
export type { OperationRow } from "./operation.ts";
export { type SessionRow, sessionRecordSchema } from "./session.ts";
export type { StoryRow } from "./story.ts";
