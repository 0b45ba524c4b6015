/**
 * checkpoint owns capturing a session, putting it back, taking that back, and forking.
 * It drives CRIU, the store and the sandbox through ports and prints nothing.
 * docs/ARCHITECTURE.md tells the life of a checkpoint, docs/notes/criu the facts behind it.
 */
export { captureBefore, type Loss } from "./capture-before.ts";
export type { CheckpointOptions } from "./checkpoint-row.ts";
export { createCheckpoint } from "./create-checkpoint.ts";
export { describeCheckpoint, describeCheckpoints, showCheckpoint } from "./describe-checkpoint.ts";
export { forkCheckpoint } from "./fork-checkpoint.ts";
export { captureAllHeld, releaseHeld, requireCaptured, scheduleHeld } from "./held-checkpoints.ts";
export { makeDurable, removeCheckpoints, scheduleDurable } from "./make-durable.ts";
export { fromManifest, shownOfNewer, toManifest } from "./manifest.ts";
export { MemoryImages } from "./memory-images.ts";
export { changesSinceMark, markAsItIs, touchedSinceMark } from "./quick-change-check.ts";
export { type Restored, restoreCheckpoint } from "./restore-checkpoint.ts";
export { openThrowawayFork, type ThrowawayFork } from "./throwaway-fork.ts";
