import { sweepStates } from "../engine/agent-state/index.ts";
import { removeCheckpoints } from "../engine/checkpoint/index.ts";
import { treeOf } from "../engine/decisions/index.ts";
import type { Engine } from "../engine/ports/index.ts";
import { cutShort, endInstance, removeSession } from "../engine/session/index.ts";
import { removableCheckpoints, resolveSession } from "../portable/lineage/index.ts";
import type { SessionRow } from "../portable/model/index.ts";
import { WaypointError } from "../shared/errors/index.ts";
import { endBrowsing } from "./file-handlers.ts";
import type { HandlersOf } from "./operation-handler.ts";
import { removeFiles, removeSingleCheckpoints } from "./remove-parts.ts";
import { withSession } from "./with-session.ts";

/** The handlers of what removes sessions, or parts of them. */
export const REMOVE_HANDLERS: HandlersOf<"rm" | "rm.checkpoints" | "rm.files"> = {
  rm: (input, engine, client) => {
    const wanted = resolveSession(input.session, engine.catalog);
    // Whatever is under way in it is in vain, and may hang. From then on the removal is completed.
    if (input.force) cutShort(wanted, "removed", engine);
    const until = input.force ? { cancelled: new AbortController().signal } : client;
    return withSession(wanted.id, engine, until, async (session) => {
      if (!input.force) requireNotRunning(session, engine);
      await endIfUnremovable(session, engine);
      const removable = removableCheckpoints(session, engine.catalog);
      const own = engine.catalog.checkpoints(session.id);
      const kept = own.filter(({ id }) => !removable.some((row) => row.id === id)).length;
      const removableIds = removable.map(({ id }) => id);
      await endBrowsing(removableIds, input.force, engine);
      const tree = treeOf(session, engine);
      await removeSession(session, engine);
      const isLast = engine.catalog.sessions().every((other) => treeOf(other, engine) !== tree);
      if (isLast) engine.decisions.remove(tree);
      await removeCheckpoints(removableIds, engine);
      sweepStates([session, ...removable], engine);
      return {
        session: session.id,
        name: session.name,
        checkpointsRemoved: removable.length,
        checkpointsKept: kept,
      };
    });
  },

  "rm.checkpoints": (input, engine, client) => removeSingleCheckpoints(input, engine, client),

  "rm.files": (input, engine, client) => removeFiles(input, engine, client),
};

/** @throws SESSION_WRONG_STATE  its processes live, whether they answer or not. */
function requireNotRunning({ id, name, state }: SessionRow, { live }: Engine): void {
  if (live.get(id) === undefined && state !== "running") return;
  throw new WaypointError("SESSION_WRONG_STATE", `Session ${name} is running.`, {
    hint: `Stop it first, or use \`waypoint rm --force ${name}\`: its files and checkpoints are gone then.`,
  });
}

/**
 * On a store that cannot be written a session cannot be removed, but its processes can be ended: with
 * its row gone, the next daemon would find its checkpoints without it.
 *
 * @throws STORE_FAILED  its processes have ended; it is still listed.
 */
async function endIfUnremovable(session: SessionRow, engine: Engine): Promise<void> {
  if (engine.store.health.now().state === "writable") return;
  engine.catalog.updateSession(session.id, { state: "stopped" });
  const live = engine.live.get(session.id);
  if (live !== undefined) {
    engine.live.delete(session.id, live.instanceId);
    live.link.end(new WaypointError("SESSION_ENDED", `Session ${session.name} was removed.`));
  }
  if (session.instance !== null) await endInstance(session.instance, engine);
  engine.store.health.requireWritable(
    `remove the files of session ${session.name}; its processes have ended`,
  );
}
