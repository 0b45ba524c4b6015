import { Rollback } from "../../base/index.ts";
import type { CheckpointRow } from "../../portable/catalog/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { beginInstance } from "./instance.ts";
import type { LiveInstance } from "./live-sessions.ts";
import type { EnginePorts } from "./ports.ts";
import { restoreTree } from "./restore-tree.ts";
import { withSoundImages } from "./with-sound-images.ts";

/**
 * Builds an incarnation from a checkpoint with processes, and leaves it frozen.
 *
 * **Requires** the machine has a freezer, and the checkpoint needs no host network.
 * **On success** no process of it has taken a step.
 * **On failure** nothing of it is left.
 *
 * @param sessionId  of the session that a fork would make of it.
 * @throws what {@link buildInstanceFrom} throws
 */
export async function buildParkedInstance(
  sessionId: string,
  instanceId: string,
  checkpoint: CheckpointRow,
  ports: EnginePorts,
): Promise<Omit<LiveInstance, "sessionId" | "link">> {
  const build = () => buildOnce(sessionId, instanceId, checkpoint, ports);
  return await withSoundImages(checkpoint, build, ports);
}

async function buildOnce(
  sessionId: string,
  instanceId: string,
  checkpoint: CheckpointRow,
  ports: EnginePorts,
): Promise<Omit<LiveInstance, "sessionId" | "link">> {
  const { freezer, sandbox, settings, catalog } = ports;
  if (freezer === null) throw new WaypointError("INTERNAL", "There is no freezer to park in.");
  await using rollback = new Rollback();
  beginInstance(sessionId, instanceId, ports, rollback);
  const park = {
    hookPath: settings.parkHookPath,
    groupFile: freezer.makeFrozen(instanceId),
  };
  const owner = { ...checkpoint, id: sessionId };
  // Pages that come later could not come to what stands still.
  const from = { checkpoint, withoutBinds: false, atOnce: true, park };
  const { pid, address } = await restoreTree(owner, instanceId, from, ports, rollback);
  const startTicks = sandbox.startTicks(pid) ?? 0;
  catalog.updateInstance(instanceId, { pid, startTicks, address });
  if (!freezer.hasAll(instanceId, livePids(pid, ports)) || !freezer.isFrozen(instanceId)) {
    throw new WaypointError("SANDBOX_FAILED", "A restored tree could not be parked.");
  }
  rollback.keep();
  return { instanceId, pid, startTicks, terminalId: checkpoint.terminal ?? 1 };
}

/**
 * Takes a running incarnation into its freezer group, so that a restore can freeze it at once.
 *
 * @returns whether all of it is in.
 */
export function enlistInstance(live: LiveInstance, ports: EnginePorts): boolean {
  const { freezer } = ports;
  return freezer?.enlist(live.instanceId, () => livePids(live.pid, ports)) ?? false;
}

/** Returns the processes of a tree, parents first, without those that have ended. */
function livePids(initPid: number, { sandbox }: EnginePorts): number[] {
  const living = sandbox.listTree(initPid).filter(({ state }) => state !== "Z");
  return living.map(({ hostPid }) => hostPid);
}
