import type { SessionRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { Engine } from "../ports/index.ts";
import { requireLive } from "./describe-session.ts";
import { closeForwards } from "./forward-ports.ts";
import { endInstance, removeInstance } from "./instance.ts";

/**
 * Ends a running session's processes; its files and checkpoints stay.
 *
 * **Requires** the caller holds the session's lease.
 *
 * @param undo  the checkpoint from which it can be started again, if one was taken.
 */
export async function stopSession(
  row: SessionRow,
  undo: string | null,
  engine: Engine,
): Promise<void> {
  const { catalog } = engine;
  const live = requireLive(row, engine);
  engine.live.delete(row.id, live.instanceId);
  live.link.end(new WaypointError("SESSION_ENDED", `Session ${row.name} was stopped.`));
  catalog.transaction(() => {
    catalog.updateSession(row.id, { state: "stopped" });
    catalog.operations.insert({
      session: row.id,
      kind: "stop",
      checkpoint: null,
      undo,
      at: new Date().toISOString(),
      readyMs: null,
      stateBefore: "running",
    });
  });
  await endInstance(live.instanceId, engine);
}

/**
 * Removes a session and its files. Its checkpoints are the caller's matter.
 *
 * **Requires** the caller holds the session's lease.
 */
export async function removeSession(row: SessionRow, engine: Engine): Promise<void> {
  const live = engine.live.get(row.id);
  if (live !== undefined) {
    engine.live.delete(row.id, live.instanceId);
    live.link.end(new WaypointError("SESSION_ENDED", `Session ${row.name} was removed.`));
  }
  closeForwards(row.id, engine);
  // The row goes first: what a crash leaves of the instance is then an orphan, removed at start.
  engine.catalog.deleteSession(row.id);
  engine.effects.remove(row.id);
  engine.contacts.forget(row.id);
  engine.live.announceRemoval(row.id);
  engine.typing.forget(row.id);
  if (row.instance !== null) await removeInstance(row.instance, engine);
  engine.store.shares.sweepSoon();
}
