import type { SessionRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { Engine } from "../ports/index.ts";
import { workDirOf } from "./instance-paths.ts";

/** Lets none of an instance's processes go on; `removeInstance` does the rest. */
export function haltInstance(instanceId: string, engine: Engine): void {
  const row = engine.catalog.instance(instanceId);
  if (row?.pid == null || row.startTicks === null) return;
  engine.sandbox.haltTree(row.pid, row.startTicks);
}

/**
 * Ends an instance's processes and resolves when they are gone. Idempotent.
 *
 * @throws DEADLINE_EXCEEDED  they do not end.
 */
export async function killInstance(instanceId: string, engine: Engine): Promise<void> {
  const { sandbox, store, catalog } = engine;
  const row = catalog.instance(instanceId);
  if (row?.pid != null && row.startTicks !== null) {
    engine.network.beforeEnd(instanceId, row.pid);
    await sandbox.killTree(row.pid, row.startTicks);
    await engine.criu.endPagesServer(workDirOf(instanceId));
    catalog.updateInstance(instanceId, { pid: null, startTicks: null });
    return;
  }
  // A crash between the start of PID 1 and its row leaves only its root to know it by.
  const { upperDir } = store.instancePaths(instanceId);
  for (const pid of sandbox.findInitsByUpper(upperDir)) {
    await sandbox.killTree(pid, sandbox.startTicks(pid) ?? 0);
  }
  await engine.criu.endPagesServer(workDirOf(instanceId));
}

/**
 * Ends what runs of a session at once, whatever is under way in it: that fails, and lets go of the
 * session's lease. Its end waits for nothing, also not for a CRIU that hangs.
 *
 * The caller takes the lease then, and does the rest. If the daemon is killed before that, the next one finds
 * the session `stopped`, and not one that has ended by itself or of which a part goes on.
 */
export function cutShort(row: SessionRow, end: "removed" | "stopped", engine: Engine): void {
  const { live, catalog, criu, freezer, logger } = engine;
  const { id, name, instance } = row;
  const running = live.get(id);
  if (running !== undefined) live.delete(id, running.instanceId);
  running?.link.end(new WaypointError("SESSION_ENDED", `Session ${name} was ${end}.`));
  for (const each of catalog.instances().filter(({ session }) => session === id)) {
    criu.endRuns(workDirOf(each.id));
    void criu.endPagesServer(workDirOf(each.id)).catch((error: unknown) => {
      logger.warn("a pages server does not end", { instance: each.id, reason: String(error) });
    });
  }
  if (instance === null) return;
  noteEnd(instance, end, engine);
  haltInstance(instance, engine);
  freezer?.thaw(instance);
}

/** Processes have to end also where nothing can be noted any more. */
function noteEnd(instanceId: string, endedFor: "removed" | "stopped", engine: Engine): void {
  try {
    engine.catalog.updateInstance(instanceId, { endedFor });
  } catch (error) {
    engine.logger.warn("an end is not noted", { instanceId, reason: String(error) });
  }
}
