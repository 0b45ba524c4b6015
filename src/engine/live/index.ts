/**
 * live owns what an engine keeps in memory while it runs: live sessions, who types, who waits for approval, what runs in them, and
 * the queues of stories and verifications, and whose turn it is.
 *
 * It knows no engine: each part stands alone.
 */

export { ApprovalWaits } from "./approval-waits.ts";
export { CommandJournal, type CommandsSoFar, type JournalEntry } from "./command-journal.ts";
export { type LiveInstance, LiveSessions, type TerminalSize } from "./live-sessions.ts";
export { StoryQueue } from "./story-queue.ts";
export { Turns } from "./turns.ts";
export { Typing } from "./typing.ts";
export { type RunHandle, VerificationRuns } from "./verification-runs.ts";
