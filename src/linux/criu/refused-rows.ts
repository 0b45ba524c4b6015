import type { FailurePattern } from "./explain-failure.ts";

const END_HINT =
  "End that program or let it close the resource, then try again; a checkpoint of the files alone is possible at any time.";
const AGAIN_HINT = "Try again; it passes when the program has gone on.";

/** What a process has or does that CRIU refuses: one row of the table of failed dumps. */
interface Refused {
  reason: string;
  /** Its group `pid`, or the line that ends the dump, says which process. */
  pattern: RegExp;
  resource: string;
  /** Follows "Process 12 (node)"; `$name` stands for a group of the pattern. */
  what: string;
  /** @defaultValue to end the program */
  hint?: string;
}

/** Returns the row: "Process 12 (node) has …, which cannot be checkpointed." */
export function refused({ reason, pattern, resource, what, hint }: Refused): FailurePattern {
  return {
    reason,
    pattern,
    resource: (match) => withGroups(resource, match),
    sentence: (who, match) => `${who} ${withGroups(what, match)}, which cannot be checkpointed.`,
    hint: hint ?? END_HINT,
  };
}

/** Returns the row for what passes by itself: "Process 12 (node) has …." */
export function refusedNow({ reason, pattern, resource, what, hint }: Refused): FailurePattern {
  return {
    reason,
    transient: true,
    pattern,
    resource: (match) => withGroups(resource, match),
    sentence: (who, match) => `${who} ${withGroups(what, match)}.`,
    hint: hint ?? AGAIN_HINT,
  };
}

function withGroups(text: string, match: RegExpExecArray): string {
  return text.replace(/\$([a-z]+)/g, (_all, name: string) => match.groups?.[name] ?? "");
}
