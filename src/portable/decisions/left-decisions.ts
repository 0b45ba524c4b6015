import type { Decision } from "./decision.ts";

/** Where a session stands: what it descends from, and the processes that it has now. */
export interface Line {
  session: string;
  instance: string | null;
  /** Its head and all ancestors of that. */
  checkpoints: ReadonlySet<string>;
}

/** Tells whether a decision is in a session's own past: on the way from the beginning to now. */
export function isOnLine({ session, instance, checkpoint }: Decision, line: Line): boolean {
  if (checkpoint !== null) return line.checkpoints.has(checkpoint);
  return session === line.session && instance === line.instance;
}

/** Tells whether a decision has a text in what was said of it, in capitals or not. */
export function isMentioned(
  { choice, reason, alternatives, task }: Decision,
  text: string,
): boolean {
  const said = [choice, reason ?? "", ...alternatives, task ?? ""].join("\n").toLowerCase();
  return said.includes(text.toLowerCase());
}

/** A few lines, in a conversation that may be long already. */
export const ACCOUNT_CHARS_MAX = 4000;

/** Returns decisions as a short account, for a conversation that goes on from before them. */
export function accountOf(decisions: readonly Decision[], charactersMax: number): string {
  const lines = decisions.map(({ choice, reason }) =>
    reason === null ? `- ${choice}` : `- ${choice}: ${reason}`,
  );
  let account = "";
  // The newest are worth most.
  for (const line of lines.toReversed()) {
    if (account.length + line.length + 1 > charactersMax) break;
    account = `${line}\n${account}`;
  }
  return account.trimEnd();
}
