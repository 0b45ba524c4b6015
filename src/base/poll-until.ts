import { setTimeout as delay } from "node:timers/promises";
import { WaypointError } from "../shared/errors/index.ts";

/**
 * Calls `attempt` until it returns something other than `undefined`.
 *
 * For things that the kernel offers no way to wait for; everything else is awaited.
 *
 * @throws DEADLINE_EXCEEDED  it did not happen within `timeoutMs`.
 */
export async function pollUntil<T>(
  what: string,
  options: { timeoutMs: number; intervalMs?: number; signal?: AbortSignal },
  attempt: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  const { timeoutMs, intervalMs = 5 } = options;
  const endsAtMs = performance.now() + timeoutMs;
  for (;;) {
    options.signal?.throwIfAborted();
    const value = await attempt();
    if (value !== undefined) return value;
    if (performance.now() >= endsAtMs) {
      throw new WaypointError("DEADLINE_EXCEEDED", `Waited ${timeoutMs} ms in vain for ${what}.`);
    }
    await delay(intervalMs);
  }
}
