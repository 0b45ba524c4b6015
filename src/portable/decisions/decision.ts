/** What somebody decided, and why: it is kept beside the history, and no restore takes it back. */
export interface Decision {
  id: number;
  session: string;
  /** The session that its branches come from: all of them learn of it. */
  tree: string;
  at: string;
  /** The processes beside which it was made. */
  instance: string | null;
  /** The first checkpoint that was captured of these processes after it; `null` while there is none. */
  checkpoint: string | null;
  choice: string;
  reason: string | null;
  alternatives: string[];
  /** The task that was in progress. */
  task: string | null;
  /** The command that was run last. */
  command: string | null;
}

/** The decisions of sessions. What it is told is on the disk when it returns. */
export interface DecisionLog extends Disposable {
  add(decision: Omit<Decision, "id" | "checkpoint">): Decision;
  /** Returns all of a tree, oldest first. */
  of(tree: string): Decision[];
  /** Returns those of all trees, oldest first. */
  all(): Decision[];
  /** Says which checkpoint comes after what was decided beside an instance until that moment. */
  capture(instance: string, checkpoint: string, moment: { until: string }): void;
  /** Forgets a tree of which no session is left. */
  remove(tree: string): void;
}
