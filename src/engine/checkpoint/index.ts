/**
 * checkpoint owns capturing a session, keeping what was captured, and forking.
 * It drives CRIU, the store and the sandbox as src/engine/ports names them, and prints nothing.
 * docs/ARCHITECTURE.md tells the life of a checkpoint, docs/notes/criu the facts behind it.
 */

export { buildFrom } from "./build-from.ts";
export { type CheckpointOptions, checkpointRow, roundMs } from "./checkpoint-row.ts";
export { createCheckpoint } from "./create-checkpoint.ts";
export { describeCheckpoint, describeCheckpoints, showCheckpoint } from "./describe-checkpoint.ts";
export { headIfUnchanged } from "./exact-change-check.ts";
export { forkCheckpoint } from "./fork-checkpoint.ts";
export {
  captureAllHeld,
  captureHeldFiles,
  releaseHeld,
  requireCaptured,
  scheduleHeld,
} from "./held-checkpoints.ts";
export { makeDurable, removeCheckpoints, scheduleDurable } from "./make-durable.ts";
export { fromManifest, shownOfNewer, toManifest } from "./manifest.ts";
export { MemoryImages } from "./memory-images.ts";
export { MemoryReserve } from "./memory-reserve.ts";
export {
  noteStartAgain,
  noteStartState,
  quickChanges,
  touchedSinceNoted,
} from "./quick-change-check.ts";
export { syncSoon } from "./sync-soon.ts";
export { openThrowawayFork, type ThrowawayFork } from "./throwaway-fork.ts";
export { trackMemoryOf } from "./track-memory.ts";
export { writeManifest } from "./write-manifest.ts";
