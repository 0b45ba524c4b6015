import type { SessionRow } from "../../portable/catalog/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { workDirOf } from "./instance-paths.ts";
import type { EnginePorts } from "./ports.ts";

/** Lets none of an incarnation's processes go on; `removeInstance` does the rest. */
export function haltInstance(instanceId: string, ports: EnginePorts): void {
  const row = ports.catalog.instance(instanceId);
  if (row?.pid == null || row.startTicks === null) return;
  ports.sandbox.haltTree(row.pid, row.startTicks);
}

/**
 * Ends an incarnation's processes and resolves when they are gone. Idempotent.
 *
 * @throws DEADLINE_EXCEEDED  they do not end.
 */
export async function killInstance(instanceId: string, ports: EnginePorts): Promise<void> {
  const { sandbox, store, catalog } = ports;
  const row = catalog.instance(instanceId);
  if (row?.pid != null && row.startTicks !== null) {
    await sandbox.killTree(row.pid, row.startTicks);
    await ports.criu.endPagesServer(workDirOf(instanceId));
    catalog.updateInstance(instanceId, { pid: null, startTicks: null });
    return;
  }
  // A crash between the start of PID 1 and its row leaves only its root to know it by.
  const { upperDir } = store.instancePaths(instanceId);
  for (const pid of sandbox.findInitsByUpper(upperDir)) {
    await sandbox.killTree(pid, sandbox.startTicks(pid) ?? 0);
  }
  await ports.criu.endPagesServer(workDirOf(instanceId));
}

/**
 * Ends what runs of a session at once, whatever is under way in it: that fails, and lets go of the
 * session's lease. Its end waits for nothing, also not for a CRIU that hangs.
 *
 * The caller takes the lease then, and does the rest.
 */
export function cutShort(
  { id, name, instance }: SessionRow,
  end: "removed" | "stopped",
  ports: EnginePorts,
): void {
  const { live, catalog, criu, freezer, logger } = ports;
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
  haltInstance(instance, ports);
  freezer?.thaw(instance);
}
