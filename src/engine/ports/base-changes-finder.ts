import type { ChangedFile } from "../../linux/sandbox/index.ts";
import type { CheckpointRow } from "../../portable/model/index.ts";

/** The files of a base that were changed after a moment which its session had not written then. */
export interface FoundBaseChanges {
  /** Newest first. */
  files: ChangedFile[];
  /** More than could be read have changed. */
  isComplete: boolean;
  asOfMs: number;
}

/** Finds what of live bases has changed. */
export interface BaseChangesFinder {
  /**
   * Returns what has changed since a checkpoint; `null` where its base cannot change.
   *
   * @param isFresh  only what is found from now on will do.
   * @throws TOOL_FAILED
   */
  since(checkpoint: CheckpointRow, isFresh: boolean): Promise<FoundBaseChanges | null>;
  /** Ends the searches under way. */
  close(): void;
}
