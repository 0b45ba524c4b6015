/**
 * catalog owns the SQLite index of sessions, instances, checkpoints, operations,
 * commands and verifications.
 * It decides nothing; what it says of sessions and checkpoints can be rebuilt from the store.
 */
export { Catalog } from "./catalog.ts";
export type { CaptureRow, CommandLog, CommandRow } from "./command-log.ts";
export { namesNothing } from "./count-named.ts";
export type { OperationLog } from "./operation-log.ts";
export type { SessionMirror } from "./session-mirror.ts";
export type { StoryEntry, StoryIndex, TouchedKind } from "./story-index.ts";
export type { VerificationLog, VerificationRow } from "./verification-log.ts";
