import type { AskedBy } from "../../shared/protocol/index.ts";

/** What a command did that was run against exactly one checkpoint. */
export interface VerificationRow {
  checkpoint: string;
  command: string;
  exitCode: number;
  durationMs: number;
  at: string;
  timedOut: boolean;
  by: AskedBy;
  /** The end of what it printed. */
  output: string;
  outputBytes: number;
}

/** The verifications of checkpoints, in the catalog. */
export interface VerificationLog {
  /** Adds the newest verification of a checkpoint. @throws STORE_FULL */
  add(row: VerificationRow): void;

  /** Returns all that are kept of one checkpoint, newest first. */
  of(checkpoint: string): VerificationRow[];

  /** Returns all that are kept of all checkpoints, newest first: for whoever searches them. */
  all(): VerificationRow[];

  /**
   * Returns what marks each checkpoint, by its id, with the last characters of its output: the newest
   * verdict of its own command. What a search or another command said marks none.
   */
  verdicts(checkpoint?: string | null): Map<string, VerificationRow>;

  deleteOf(checkpoint: string): void;
}
