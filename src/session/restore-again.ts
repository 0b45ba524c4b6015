import { buildInstanceFrom, clearInstance, killInstance } from "./instance.ts";
import type { LiveInstance } from "./live-sessions.ts";
import type { EnginePorts } from "./ports.ts";

/**
 * Brings a session back from the checkpoint it was restored from, after its memory was lost.
 *
 * Whole from the start this time. What its programs did since the restore is lost; the operation
 * `recover` in the log says so.
 *
 * **Requires** the caller holds the session's lease; the processes of `lostId` have ended.
 * **On success** the session refers to the new incarnation; the caller adopts it.
 *
 * @returns `null` when it cannot be brought back; the session is as it was found.
 */
export async function restoreAgain(
  sessionId: string,
  lostId: string,
  ports: EnginePorts,
): Promise<LiveInstance | null> {
  const { catalog, logger } = ports;
  const session = catalog.session(sessionId);
  const checkpointId = catalog.instance(lostId)?.fillingFrom ?? "";
  const checkpoint = catalog.checkpoint(checkpointId);
  if (session === undefined || checkpoint === undefined) return null;
  const startedAtMs = performance.now();
  const instanceId = `${sessionId}-${session.instanceCount + 1}`;
  catalog.updateSession(sessionId, { instanceCount: session.instanceCount + 1 });
  try {
    await killInstance(lostId, ports);
    const from = { checkpoint, withoutBinds: true, atOnce: true };
    const live = await buildInstanceFrom(session, instanceId, from, ports);
    catalog.transaction(() => {
      catalog.updateSession(sessionId, { state: "running", instance: instanceId });
      catalog.operations.insert({
        session: sessionId,
        kind: "recover",
        checkpoint: checkpoint.id,
        undo: null,
        at: new Date().toISOString(),
        readyMs: Math.round((performance.now() - startedAtMs) * 100) / 100,
        stateBefore: "running",
      });
    });
    logger.warn("a session was restored again", {
      session: session.name,
      checkpoint: checkpointId,
    });
    void ports.background
      .run("remove", () => clearInstance(lostId, ports))
      .catch((error: unknown) => logger.error("remove an old incarnation", error, { lostId }));
    return live;
  } catch (error) {
    logger.error("restore a session again", error, { session: session.name });
    return null;
  }
}
