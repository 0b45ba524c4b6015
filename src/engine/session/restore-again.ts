import { Rollback } from "../../base/index.ts";
import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import { hasCode } from "../../shared/errors/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import { buildInstanceFrom, clearInstance, removeInstance } from "./instance.ts";
import { killInstance } from "./kill-instance.ts";

/**
 * Brings a session back from the checkpoint it was restored from, after its memory was lost.
 *
 * Whole from the start this time. What its programs did since the restore is lost; the operation
 * `recover` in the log says so. Where the checkpoint is found to be damaged, the session goes back to
 * what the restore had left.
 *
 * **Requires** the caller holds the session's lease; the processes of `lostId` have ended.
 * **On success** the session refers to the new instance; the caller adopts it.
 *
 * @returns `null` when it cannot be brought back; the session is as it was found.
 */
export async function restoreAgain(
  sessionId: string,
  lostId: string,
  engine: Engine,
): Promise<LiveInstance | null> {
  const { catalog, logger } = engine;
  const session = catalog.session(sessionId);
  const checkpointId = catalog.instance(lostId)?.fillingFrom ?? "";
  const wanted = catalog.checkpoint(checkpointId);
  if (session === undefined || wanted === undefined) return null;
  const startedAtMs = performance.now();
  const instanceId = `${sessionId}-${session.instanceCount + 1}`;
  catalog.updateSession(sessionId, { instanceCount: session.instanceCount + 1 });
  try {
    await killInstance(lostId, engine);
    const { live, checkpoint } = await bringBack(session, instanceId, wanted, engine);
    await using rollback = new Rollback();
    rollback.defer("end what nobody refers to", () => removeInstance(instanceId, engine));
    const head = checkpoint === wanted ? {} : { head: checkpoint.id };
    catalog.transaction(() => {
      const { agentState } = checkpoint;
      const moved = { state: "running", instance: instanceId, agentState } as const;
      catalog.updateSession(sessionId, { ...moved, ...head });
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
    rollback.keep();
    logger.warn("a session was restored again", {
      session: session.name,
      checkpoint: checkpoint.id,
    });
    void engine.background
      .run("remove", () => clearInstance(lostId, engine))
      .catch((error: unknown) => logger.error("remove an old instance", error, { lostId }));
    return live;
  } catch (error) {
    logger.error("restore a session again", error, { session: session.name });
    return null;
  }
}

async function bringBack(
  session: SessionRow,
  instanceId: string,
  wanted: CheckpointRow,
  engine: Engine,
): Promise<{ live: LiveInstance; checkpoint: CheckpointRow }> {
  const build = (checkpoint: CheckpointRow) =>
    buildInstanceFrom(
      session,
      instanceId,
      { checkpoint, withoutBinds: true, eagerMemory: true },
      engine,
    );
  try {
    return { live: await build(wanted), checkpoint: wanted };
  } catch (error) {
    const left = hasCode(error, "CHECKPOINT_INCOMPLETE") ? leftFor(wanted, session, engine) : null;
    if (left === null) throw error;
    engine.logger.error("a session goes back to what a restore had left", error, { to: left.id });
    return { live: await build(left), checkpoint: left };
  }
}

/** Returns what the session was before it was restored to a checkpoint, with its processes. */
function leftFor(
  checkpoint: CheckpointRow,
  session: SessionRow,
  { catalog }: Engine,
): CheckpointRow | null {
  const move = catalog.operations.lastMove(session.id);
  if (move?.checkpoint !== checkpoint.id || move.undo === null) return null;
  const left = catalog.checkpoint(move.undo);
  return left?.content === "full" && left.heldBy === null ? left : null;
}
