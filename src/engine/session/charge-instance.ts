import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";

/**
 * Counts an instance's files for its session's share of the store from now on.
 *
 * Not while it is being made: a session that has used up its share can still be restored. What its
 * programs have written by then counts as well.
 *
 * @param diskLimitBytes  of a session that is in no catalog.
 */
export function chargeInstance(
  { sessionId, instanceId }: Pick<LiveInstance, "sessionId" | "instanceId">,
  { store, catalog, logger }: Engine,
  diskLimitBytes = catalog.session(sessionId)?.diskLimitBytes ?? null,
): void {
  try {
    store.chargeInstance(instanceId, { sessionId, diskLimitBytes });
  } catch (error) {
    // A session whose files count for nobody is better than none.
    logger.error("a session is not held to its share of the store", error, { sessionId });
  }
}
