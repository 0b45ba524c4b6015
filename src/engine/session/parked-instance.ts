import { Rollback } from "../../base/index.ts";
import type { CheckpointRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import { beginInstance } from "./instance.ts";
import { restoreTree } from "./restore-tree.ts";
import { withSoundImages } from "./with-sound-images.ts";

/**
 * Builds an instance from a checkpoint with processes, and leaves it frozen.
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
  engine: Engine,
): Promise<Omit<LiveInstance, "sessionId" | "link">> {
  const build = () => buildOnce(sessionId, instanceId, checkpoint, engine);
  return await withSoundImages(checkpoint, build, engine);
}

async function buildOnce(
  sessionId: string,
  instanceId: string,
  checkpoint: CheckpointRow,
  engine: Engine,
): Promise<Omit<LiveInstance, "sessionId" | "link">> {
  const { freezer, sandbox, settings, catalog } = engine;
  if (freezer === null) throw new WaypointError("INTERNAL", "There is no freezer to park in.");
  await using rollback = new Rollback();
  beginInstance(sessionId, instanceId, engine, rollback);
  const park = {
    hookPath: settings.parkHookPath,
    groupFile: freezer.makeFrozen(instanceId),
  };
  const owner = { ...checkpoint, id: sessionId };
  // Pages that come later could not come to what stands still.
  const from = { checkpoint, withoutBinds: false, eagerMemory: true, park };
  const { pid, address } = await restoreTree(owner, instanceId, from, engine, rollback);
  const startTicks = sandbox.startTicks(pid) ?? 0;
  catalog.updateInstance(instanceId, { pid, startTicks, address });
  if (!freezer.hasAll(instanceId, livePids(pid, engine)) || !freezer.isFrozen(instanceId)) {
    throw new WaypointError("SANDBOX_FAILED", "A restored tree could not be parked.");
  }
  rollback.keep();
  return { instanceId, pid, startTicks, terminalId: checkpoint.terminal ?? 1 };
}

/**
 * Takes a running instance into its freezer group, so that a restore can freeze it at once.
 *
 * @returns whether all of it is in.
 */
export function enlistInstance(live: LiveInstance, engine: Engine): boolean {
  const { freezer } = engine;
  return freezer?.enlist(live.instanceId, () => livePids(live.pid, engine)) ?? false;
}

/** Returns the processes of a tree, parents first, without those that have ended. */
function livePids(initPid: number, { sandbox }: Engine): number[] {
  const all = sandbox.listProcesses(initPid);
  const living = all.filter(({ state, threadCount }) => state !== "Z" || threadCount > 1);
  return living.map(({ hostPid }) => hostPid);
}
