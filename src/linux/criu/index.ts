/**
 * criu owns CRIU: its argument vectors, one process per dump or restore, the pages server of a lazy
 * restore, the words for its failures, and what its image files say about the processes in them.
 * It knows nothing of sessions, overlays or the store, and prepares no namespace.
 * docs/notes/criu has the facts about CRIU behind it.
 */

export {
  buildDumpArguments,
  buildRestoreArguments,
  type DumpArgumentOptions,
  type RestoreArgumentOptions,
} from "./build-arguments.ts";
export { type AheadOptions, copyAhead, protectAhead } from "./copy-ahead.ts";
export { type CriuProgram, endRuns, loadCriu } from "./criu-program.ts";
export { type DumpOptions, type DumpResult, dump } from "./dump.ts";
export {
  fillPages,
  keepPages,
  type PagesLeft,
  pagesLeft,
  pagesSocketPath,
  preparePages,
} from "./fill-pages.ts";
export { type MemoryStretch, readImageMemory } from "./image-memory.ts";
export { type ImageMemory, measureMemory } from "./measure-memory.ts";
export {
  findMissingTracking,
  type MemoryTracker,
  noteWhole,
  trackedSince,
} from "./memory-tracker.ts";
export {
  awaitPagesServer,
  endPagesServer,
  type PagesState,
  pagesState,
  startPagesServer,
} from "./pages-server.ts";
export { type ImageProcess, readImageProcesses } from "./read-image-processes.ts";
export { type ImageSocket, readImageSockets } from "./read-image-sockets.ts";
export { hasAlarm } from "./read-image-timers.ts";
export { type ImageTree, readImageTree } from "./read-image-tree.ts";
export { readLockedFiles } from "./read-locked-files.ts";
export { type BeforeResume, type RestoreOptions, type RestoreResult, restore } from "./restore.ts";
export { findRunningCriu, isTreeHeld, isTreeKilled, type RunningCriu } from "./running-criu.ts";
export { removeStaleMountRoots } from "./stale-mount-roots.ts";
export { takenPagesBytes, trimTakenPages } from "./taken-pages.ts";
export { warmUp } from "./warm-up.ts";
export { makeWorkDir, removeWorkDir } from "./work-dir.ts";
export {
  type FollowedDump,
  isIncomplete,
  type TrackedDump,
  type TrackedReference,
} from "./written-memory.ts";
