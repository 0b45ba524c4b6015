import { setTimeout as delay } from "node:timers/promises";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";

/** A next command that comes within this time after one goes first. */
const QUIET_MS = 100;
/** Commands that follow each other for longer than this are captured in between. */
const YIELD_MS_MAX = 2_000;

/**
 * Waits until no command runs in a session, none has come right after and the shell is at its
 * prompt, but not for ever: a long command goes on while it is captured.
 *
 * What a shell runs before its prompt would be captured else, and its end taken for a change.
 *
 * @throws Error  `signal` was aborted.
 */
export async function waitForIdle(
  sessionId: string,
  signal: AbortSignal,
  { live, journal }: Engine,
): Promise<void> {
  const endsAtMs = performance.now() + YIELD_MS_MAX;
  const wait = (ms: number) => delay(ms, undefined, { signal });
  for (;;) {
    await wait(QUIET_MS);
    const instance = live.get(sessionId);
    const leftMs = endsAtMs - performance.now();
    if (instance === undefined || leftMs <= 0) return;
    const { instanceId } = instance;
    if (journal.isRunning(instanceId)) {
      await Promise.race([journal.idle(instanceId), wait(leftMs)]);
    } else if (await isAtPrompt(instance)) {
      return;
    }
  }
}

async function isAtPrompt({ link, terminalId }: LiveInstance): Promise<boolean> {
  try {
    const { terminals } = await link.list();
    const terminal = terminals.find(({ id }) => id === terminalId);
    return terminal?.isAlive !== true || terminal.isAtPrompt;
  } catch {
    return true; // It has ended, or is just being restored: nothing to wait for.
  }
}
