/**
 * catalog owns the index of sessions, instances, checkpoints, operations, commands and verifications.
 * It decides nothing; what it says of sessions and checkpoints can be rebuilt from the store.
 * `sqlite/` keeps it; `test/support/catalog-conformance.ts` says what each of its kind has to do.
 */
export type { Catalog } from "./catalog.ts";
export type { CaptureRow, CommandLog, CommandRow } from "./command-log.ts";
export type { NewOperation, OperationLog } from "./operation-log.ts";
export type { SessionMirror } from "./session-mirror.ts";
export type { StoryEntry, StoryIndex, TouchedKind } from "./story-index.ts";
export type { VerificationLog, VerificationRow } from "./verification-log.ts";
