/**
 * story owns what a checkpoint tells: what changed between any two moments, read from the captures
 * themselves, and how it looked. It builds stories behind checkpoints and keeps them beside them.
 * Nothing here may delay, fail or harm a checkpoint. docs/story.md says who owns which section.
 */

export { listAllFiles } from "./build-story.ts";
export { compareMoments, WHOLE_SCOPE } from "./compare-moments.ts";
export { diffMoments } from "./diff-moments.ts";
export { intentColumns, intentFrom } from "./index-entry.ts";
export { indexMissingStories } from "./index-missing-stories.ts";
export { readStory } from "./read-story.ts";
export { scheduleStory } from "./schedule-story.ts";
export { serveStories } from "./serve-stories.ts";
export { readShellContext } from "./shell/shell-context.ts";
export { shellDirectory } from "./shell-directory.ts";
export { STORY_BYTES_MAX, STORY_SCRATCH_START } from "./story-budget.ts";
export { StoryProcess } from "./story-process.ts";
