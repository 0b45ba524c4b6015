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

/** Whose verdicts are wanted; those of all if nothing is said. */
export interface VerdictsOf {
  checkpoint?: string | null;
  /** What this command said, in place of each checkpoint's own. */
  command?: string | null;
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
   * verdict of its own command, which is that of its session where that has one; where it never came
   * to one, its newest try. What a search or another command said marks none.
   */
  verdicts(of?: VerdictsOf): Map<string, VerificationRow>;

  /** Forgets those of a checkpoint, or of one command alone; returns how many. */
  deleteOf(checkpoint: string, command?: string): number;
}
