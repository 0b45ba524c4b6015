import { setTimeout as delay } from "node:timers/promises";
import { WaypointError } from "../errors/index.ts";

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

/**
 * Awaits `promise` for at most `timeoutMs`.
 *
 * The work behind the promise is not cancelled; the caller cleans up after it.
 *
 * @throws DEADLINE_EXCEEDED  it did not settle in time.
 */
export async function withDeadline<T>(
  what: string,
  timeoutMs: number,
  promise: Promise<T>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () =>
        reject(
          new WaypointError("DEADLINE_EXCEEDED", `Waited ${timeoutMs} ms in vain for ${what}.`),
        ),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
