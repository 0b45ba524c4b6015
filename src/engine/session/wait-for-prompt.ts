import { setTimeout as delay } from "node:timers/promises";
import { WaypointError } from "../../shared/errors/index.ts";
import type { LiveInstance } from "../live/index.ts";

/** What a shell does before a prompt is its user's own doing; nobody waits longer for it. */
const PROMPT_TIMEOUT_MS = 1_000;
/** A new shell reads its start-up files first. */
const FIRST_PROMPT_TIMEOUT_MS = 5_000;
/** A quick prompt is there within a millisecond or two; a slow one is looked for less often. */
const LOOK_MS_MAX = 20;

/**
 * Resolves when the shell of a session is at its prompt again, when a next command waits for it, or
 * after a while.
 *
 * What a shell runs before its prompt (`PROMPT_COMMAND`, the start-up files) is no part of the command
 * before it: a checkpoint that comes right after would tell its programs as started.
 */
export async function waitForPrompt(
  { link, terminalId }: Pick<LiveInstance, "link" | "terminalId">,
  { isFirst = false } = {},
): Promise<void> {
  const timeoutMs = isFirst ? FIRST_PROMPT_TIMEOUT_MS : PROMPT_TIMEOUT_MS;
  const endsAtMs = performance.now() + timeoutMs;
  try {
    for (let waitMs = 1; performance.now() < endsAtMs; waitMs = Math.min(2 * waitMs, LOOK_MS_MAX)) {
      if (await isReady(link, terminalId)) return;
      await delay(waitMs);
    }
  } catch (error) {
    // That a session has ended, or stands still, is told by whatever comes next.
    if (!(error instanceof WaypointError)) throw error;
  }
}

/** Tells whether a line can be typed, or the next command waits to be. */
async function isReady(link: LiveInstance["link"], terminalId: number): Promise<boolean> {
  // Nearly always it is there at the first look, and every command waits for that.
  const terminal = await link.terminal(terminalId);
  if (terminal?.isAlive !== true || terminal.isAtPrompt) return true;
  const { commands } = await link.list();
  return commands.some(
    ({ kind, stage }) => kind === "shell" && (stage === "queued" || stage === "running"),
  );
}
