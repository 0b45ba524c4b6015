/**
 * story owns what a checkpoint tells: what changed between any two moments, read from the captures
 * themselves, and how it looked. It builds stories behind checkpoints and keeps them beside them.
 * Nothing here may delay, fail or harm a checkpoint. docs/story.md says who owns which section.
 */
export { diffMoments } from "./diff-moments.ts";
export { indexMissingStories } from "./index-missing-stories.ts";
export { readStory } from "./read-story.ts";
export { scheduleStory } from "./schedule-story.ts";
export { readShellContext } from "./shell/shell-context.ts";
export { StoryQueue } from "./story-queue.ts";
