const MEBIBYTE = 1024 ** 2;

/** What building one story may take; what needs more is left out ({@link leftOutStory}). */
export const STORY_TIME_MS_MAX = 120_000;
export const STORY_BYTES_MAX = 1024 * MEBIBYTE;
/** A story as it crosses from its process to the daemon. */
export const STORY_ANSWER_CHARACTERS_MAX = 64 * MEBIBYTE;
/** How often a story that goes beyond is tried. */
export const STORY_TRIES_MAX = 2;

/** Ids of the throw-away subvolumes of the process that builds stories begin so. */
export const STORY_SCRATCH_START = "story-";

/** A story could not be built within its budget; the message says what it took. */
export class StoryOverBudget extends Error {}
