/**
 * story owns what a checkpoint tells: what changed between any two moments, read from the captures
 * themselves, and how it looked. It builds stories behind checkpoints and keeps them beside them.
 * Nothing here may delay, fail or harm a checkpoint. docs/story.md says who owns which section.
 */

export type { BaseVersion } from "./base/base-versions.ts";
export { FirstViews } from "./base/first-views.ts";
export { compareMoments, WHOLE_SCOPE } from "./compare-moments.ts";
export { diffMoments } from "./diff-moments.ts";
export { findFileChanges } from "./files/find-file-changes.ts";
export { MomentFiles, openEntry, readEntry } from "./files/moment-files.ts";
export type { TreeEntry } from "./files/overlay-tree.ts";
export type { RawChange } from "./files/raw-change.ts";
export { haveSameAttributes } from "./files/same-content.ts";
export { openFresh } from "./fresh-moment.ts";
export { indexMissingStories } from "./index-missing-stories.ts";
export { type Moment, type MomentRef, openCheckpoint, openMoment } from "./moment.ts";
export { readStory } from "./read-story.ts";
export { requirePath } from "./require-path.ts";
export { scheduleStory } from "./schedule-story.ts";
export { serveStories } from "./serve-stories.ts";
export { readShellContext } from "./shell/shell-context.ts";
export { shellDirectory } from "./shell-directory.ts";
export { STORY_BYTES_MAX, STORY_SCRATCH_START } from "./story-budget.ts";
export type { StoryEngine, StorySettings } from "./story-engine.ts";
export { StoryProcess } from "./story-process.ts";
