import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { hasCode } from "../../shared/errors/index.ts";

/** How long a lost daemon is looked for. */
const RECONNECT_TIMEOUT_MS = 60_000;
const RECONNECT_INTERVAL_MS = 250;
/** How long one that ends is left to whoever has ended it, before another one is started. */
const START_AFTER_MS = 1_000;

/**
 * Opens something again on a daemon that was lost; starts one where none comes back by itself.
 *
 * @throws DAEMON_UNREACHABLE  none answered for a minute, or the state directory is gone.
 */
export async function reconnect<T>(
  stateDir: string,
  open: (options: { start: boolean }) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const beganAtMs = performance.now();
  for (;;) {
    const waitedMs = performance.now() - beganAtMs;
    try {
      return await open({ start: waitedMs >= START_AFTER_MS && existsSync(stateDir) });
    } catch (error) {
      const isOver = waitedMs >= RECONNECT_TIMEOUT_MS || signal?.aborted === true;
      if (isOver || !hasCode(error, "DAEMON_UNREACHABLE") || !existsSync(stateDir)) throw error;
    }
    await delay(RECONNECT_INTERVAL_MS, undefined, signal === undefined ? {} : { signal });
  }
}
