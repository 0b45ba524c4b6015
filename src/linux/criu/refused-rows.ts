import { descriptorOf } from "./describe-culprit.ts";
import type { Culprit, FailurePattern } from "./explain-failure.ts";

/** What helps against most of what CRIU refuses. */
export const END_HINT =
  "End that program or let it close the resource, then try again; a checkpoint of the files alone is possible at any time.";
const AGAIN_HINT = "Try again; it passes when the program has gone on.";

/** What a process has or does that CRIU refuses: one row of the table of failed dumps. */
interface Refused extends Pick<FailurePattern, "reason" | "pattern" | "applies" | "findCulprit"> {
  resource: string;
  /**
   * Follows "Process 12 (node)"; `$name` stands for a group of the pattern, `$descriptor` for
   * " (descriptor 3)".
   */
  what: string;
  /** @defaultValue to end the program */
  hint?: string;
}

/** Returns the row: "Process 12 (node) has …, which cannot be checkpointed." */
export function refused({ what, ...row }: Refused): FailurePattern {
  return rowOf({ hint: END_HINT, ...row }, `${what}, which cannot be checkpointed`);
}

/** Returns the row for what passes by itself: "Process 12 (node) has …." */
export function refusedNow({ what, ...row }: Refused): FailurePattern {
  return { transient: true, ...rowOf({ hint: AGAIN_HINT, ...row }, what) };
}

function rowOf(row: Omit<Refused, "what"> & { hint: string }, what: string): FailurePattern {
  return {
    ...row,
    resource: (match, culprit) => withFacts(row.resource, match, culprit),
    sentence: (who, match, culprit) => `${who} ${withFacts(what, match, culprit)}.`,
  };
}

function withFacts(text: string, { groups }: RegExpExecArray, culprit?: Culprit): string {
  return text.replace(/\$([A-Za-z]+)/g, (_all, name: string) =>
    name === "descriptor" ? descriptorOf(culprit) : (groups?.[name] ?? ""),
  );
}

/** CRIU, or what it starts, could start no process. */
export const PROCESSES_FULL_PATTERN: FailurePattern = {
  reason: "processes_full",
  code: "PROCESSES_FULL",
  pattern: /(?:fork|clone|thread|task)\b[^\n]*: Resource temporarily unavailable|Cannot fork/i,
  resource: () => null,
  sentence: () => "No further process can be started on this machine.",
  hint: "End some processes, or raise the limit of the daemon (its control group's pids.max, or kernel.pid_max), then try again.",
};
