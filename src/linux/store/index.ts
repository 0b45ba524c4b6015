/**
 * store owns the btrfs filesystem with all sessions' files and all checkpoints, and the tmpfs that
 * takes process images first. It knows subvolumes and directories, not what runs in them.
 * docs/FORMAT.md has the layout, docs/notes/btrfs the facts.
 */

export type { CheckpointPaths } from "./checkpoint-paths.ts";
export type { ImagesPart } from "./image-sums.ts";
export type { ImagePrograms } from "./images-dir.ts";
export { openStore, openStoreForReading, type StoreLimits } from "./open-store.ts";
export type { ProcessImages } from "./process-images.ts";
export type { SubvolumeChanges } from "./send-difference.ts";
export type { ScratchSubvolume } from "./snapshots.ts";
export { Store } from "./store.ts";
export type { StoreState } from "./store-health.ts";
export { WarmMemory } from "./warm-memory.ts";
export { warmRoomBytes } from "./warm-room.ts";
