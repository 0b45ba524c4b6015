import type { Story } from "../../shared/protocol/index.ts";

/** Builds the stories of checkpoints. */
export interface StoryBuilder {
  /**
   * Builds the story of a checkpoint.
   *
   * When `signal` aborts nothing is read any more once this has rejected.
   *
   * @throws StoryOverBudget  (src/engine/story) it took too long or too much memory.
   * @throws CHECKPOINT_INCOMPLETE | CANCELLED | STORE_FULL
   */
  build: (checkpointId: string, signal: AbortSignal) => Promise<Story>;
  close: () => Promise<void>;
}
