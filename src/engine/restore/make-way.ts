import { Rollback } from "../../base/index.ts";
import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { buildFrom } from "../checkpoint/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import { adoptInstance, endInstance, removeInstance, requireUndamaged } from "../session/index.ts";

/**
 * Returns what runs where it may hold what the new processes need, and has to end first: ports of the
 * host's network, locks on files that both see.
 *
 * @throws CHECKPOINT_INCOMPLETE  of images that are damaged nobody learns that, and nothing ends for them.
 */
export async function findInTheWay(
  session: SessionRow,
  checkpoint: CheckpointRow,
  engine: Engine,
): Promise<LiveInstance | null> {
  if (!mayNeedWhatIsHeld(session, checkpoint)) return null;
  await requireUndamaged(checkpoint, engine);
  const isInTheWay = session.net === "host" || (await hasLocksInBinds(checkpoint, engine));
  return isInTheWay ? (engine.live.get(session.id) ?? null) : null;
}

async function hasLocksInBinds({ id, binds }: CheckpointRow, { criu, store }: Engine) {
  using held = store.images.hold(store.checkpointPaths(id));
  const locked = await criu.readLockedFiles(held.imagesDir);
  return locked.some((path) =>
    binds.some(({ target }) => path === target || path.startsWith(`${target}/`)),
  );
}

function mayNeedWhatIsHeld(session: SessionRow, checkpoint: CheckpointRow): boolean {
  return session.net === "host" || (checkpoint.content === "full" && checkpoint.binds.length > 0);
}

/** Ends what is in the way of a restore; its files stay. */
export async function leave(session: SessionRow, old: LiveInstance, engine: Engine): Promise<void> {
  engine.live.delete(session.id, old.instanceId);
  old.link.end(new WaypointError("SESSION_ENDED", `Session ${session.name} is being restored.`));
  await endInstance(old.instanceId, engine);
}

/** Restores what a session had before its processes were ended; it is `ended` where that fails, too. */
export async function bringBack(
  session: SessionRow,
  old: LiveInstance,
  { before, instanceId }: { before: CheckpointRow | null; instanceId: string },
  engine: Engine,
): Promise<void> {
  const rescueId = `${instanceId}-rescue`;
  try {
    if (before === null) throw new Error("nothing was captured");
    const back = { checkpoint: before, withoutBinds: true };
    await using rollback = new Rollback();
    const rescued = await buildFrom(back, session, rescueId, engine);
    rollback.defer("remove what was brought back", () => removeInstance(rescueId, engine));
    engine.catalog.updateSession(session.id, { instance: rescueId });
    rollback.keep();
    adoptInstance(rescued, engine);
  } catch (error) {
    engine.logger.error("bring a session back", error, { session: session.id });
    engine.catalog.updateSession(session.id, { state: "ended" });
    return;
  }
  await removeInstance(old.instanceId, engine);
}
