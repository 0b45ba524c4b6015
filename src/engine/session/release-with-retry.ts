import { setTimeout as delay } from "node:timers/promises";
import { hasCode, toWaypointError } from "../../shared/errors/index.ts";
import type { Engine } from "../ports/index.ts";

const RETRY_INTERVAL_MS = 1_000;
/** An hour; after that it is left to the next daemon, which looks for what nobody refers to. */
const RETRIES_MAX = 3_600;

/**
 * Gives back what an instance holds. It takes programs to do so, and the end of all its
 * processes: where none can be started, or one does not end, it is done as soon as that changes, and
 * the caller goes on.
 *
 * **Requires** `work` is idempotent.
 */
export async function releaseWithRetry(
  instanceId: string,
  engine: Engine,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!passes(error)) throw error;
    const reason = toWaypointError(error).message;
    engine.logger.warn("an instance is given back later", { instanceId, reason });
    void releaseLater(work).catch((later: unknown) =>
      engine.logger.error("an instance could not be given back", later, { instanceId }),
    );
  }
}

function passes(error: unknown): boolean {
  return hasCode(error, "PROCESSES_FULL") || hasCode(error, "DEADLINE_EXCEEDED");
}

async function releaseLater(work: () => Promise<void>): Promise<void> {
  for (let retries = 1; ; retries += 1) {
    await delay(RETRY_INTERVAL_MS, undefined, { ref: false });
    try {
      return await work();
    } catch (error) {
      if (!passes(error) || retries >= RETRIES_MAX) throw error;
    }
  }
}
