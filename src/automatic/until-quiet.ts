import { setTimeout as delay } from "node:timers/promises";
import type { EnginePorts } from "../session/index.ts";

/** A next command that comes within this time after one goes first. */
const QUIET_MS = 100;
/** Commands that follow each other for longer than this are captured in between. */
const YIELD_MS_MAX = 2_000;

/**
 * Waits until no command runs in a session and none has come right after, but not for ever: a long
 * command goes on while it is captured.
 *
 * @throws Error  `signal` was aborted.
 */
export async function untilQuiet(
  sessionId: string,
  signal: AbortSignal,
  { live, journal }: EnginePorts,
): Promise<void> {
  const endsAtMs = performance.now() + YIELD_MS_MAX;
  const wait = (ms: number) => delay(ms, undefined, { signal });
  for (;;) {
    await wait(QUIET_MS);
    const instanceId = live.get(sessionId)?.instanceId;
    if (instanceId === undefined || !journal.isRunning(instanceId)) return;
    const leftMs = endsAtMs - performance.now();
    if (leftMs <= 0) return;
    await Promise.race([journal.idle(instanceId), wait(leftMs)]);
  }
}
