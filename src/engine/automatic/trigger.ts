import type { AutoCause, AutoPolicy } from "../../shared/protocol/index.ts";

/** Something after which a session is to be captured. */
export interface Trigger {
  cause: AutoCause;
  /** What was meant, where somebody said it. */
  intent: string | null;
  /** A command ran that may have changed nothing but variables or functions of the shell. */
  mayHaveChangedShell: boolean;
}

/** Tells whether a policy asks for a capture after this. */
export function isAskedFor({ cause }: Trigger, policy: AutoPolicy): boolean {
  switch (cause) {
    case "command":
      return policy.commands !== "none";
    case "edit":
      return policy.edits;
    case "task":
      return policy.tasks;
    case "every":
      return policy.everyMs !== null;
  }
}

/**
 * Returns the one of two triggers for which one checkpoint is taken.
 *
 * What somebody said is kept; else the newer one tells more than a clock.
 */
export function joinTriggers(waiting: Trigger | null, next: Trigger): Trigger {
  if (waiting === null) return next;
  const mayHaveChangedShell = waiting.mayHaveChangedShell || next.mayHaveChangedShell;
  const isNewer = next.cause === "task" || (waiting.cause !== "task" && next.cause !== "every");
  return { ...(isNewer ? next : waiting), mayHaveChangedShell };
}
