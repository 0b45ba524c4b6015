import type { IntentSource } from "../../shared/protocol/index.ts";

/** What the timeline shows of a checkpoint's story; the story itself lies beside the checkpoint. */
export interface StoryRow {
  checkpoint: string;
  summary: string;
  /** What was meant, also where nobody said it, and where that was found. */
  intent: string | null;
  intentSource: IntentSource | null;
  /** Of a command that has ended. */
  intentExitCode: number | null;
  /** The last command, where it failed and another one made the change. */
  failedAfter: string | null;
  failedAfterExitCode: number | null;
}
