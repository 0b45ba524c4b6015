import { setTimeout as delay } from "node:timers/promises";
import type { CheckpointRow } from "../../portable/catalog/index.ts";
import { toWaypointError } from "../../shared/errors/index.ts";
import { callInit, type EnginePorts, removeInstance } from "../session/index.ts";
import { scheduleStory } from "../story/index.ts";
import { dumpInstance } from "./dump-instance.ts";
import { scheduleDurable } from "./make-durable.ts";
import { toManifest } from "./manifest.ts";
import { roundMs } from "./round-ms.ts";

/**
 * What a restore from a standby leaves is frozen and *held*: it is the checkpoint that `undo` goes
 * back to until CRIU has dumped it, which nobody has to wait for.
 */

const QUEUE = "held";
/** The first commands after a restore come before the dump of what it left. */
const DUMP_DELAY_MS = 50;
const CALL_TIMEOUT_MS = 2 ** 31 - 1;

/** Dumps a held checkpoint soon, in the background; a failure is noted in its row. */
export function scheduleHeld(checkpointId: string, ports: EnginePorts): void {
  void delay(DUMP_DELAY_MS, undefined, { ref: false })
    .then(() => captureHeld(checkpointId, ports))
    .catch((error: unknown) => {
      ports.logger.warn("a held checkpoint stays held", { checkpointId, reason: String(error) });
    });
}

/**
 * Returns a checkpoint that can be restored and forked, when what holds it has been dumped.
 *
 * @throws CRIU_DUMP_FAILED  CRIU refused it; `undo` still goes back to the processes themselves.
 * @throws FORMAT_TOO_NEW  a newer Waypoint has written it.
 */
export async function requireCaptured(
  row: CheckpointRow,
  ports: EnginePorts,
): Promise<CheckpointRow> {
  if (row.heldBy === null) {
    ports.store.requireKnown(row.id);
    return row;
  }
  await captureHeld(row.id, ports);
  return ports.catalog.checkpoint(row.id) ?? row;
}

/**
 * Dumps what holds a checkpoint, if something does. Idempotent.
 *
 * **On success** it is `captured` like any other; what held it is a standby, or ended.
 * **On failure** it is held as before, and its row says why.
 *
 * @throws CRIU_DUMP_FAILED | STORE_FULL
 */
export async function captureHeld(checkpointId: string, ports: EnginePorts): Promise<void> {
  await ports.background.run(QUEUE, async () => {
    const row = ports.catalog.checkpoint(checkpointId);
    if (row === undefined || row.heldBy === null) return;
    const instance = ports.catalog.instance(row.heldBy);
    const pid = instance?.pid ?? null;
    if (pid === null || ports.sandbox.startTicks(pid) !== instance?.startTicks) {
      ports.logger.warn("a held checkpoint has lost its processes", { checkpointId });
      await keepFilesAlone(row, row.heldBy, ports);
      return;
    }
    try {
      await dumpHeld(row, { instanceId: row.heldBy, pid }, ports);
    } catch (error) {
      const { message } = toWaypointError(error);
      ports.catalog.updateCheckpoint(checkpointId, { heldWhy: message });
      throw error;
    }
  });
}

/** Dumps all that is held, for the end of the daemon; what CRIU refuses stays held. */
export async function captureAllHeld(ports: EnginePorts): Promise<void> {
  for (const { id, heldWhy } of ports.catalog.heldCheckpoints()) {
    if (heldWhy === null) await captureHeld(id, ports).catch(() => {});
  }
}

/** Ends what is held and cannot be dumped; its files are kept. For the end of all sessions. */
export async function releaseHeld(ports: EnginePorts): Promise<void> {
  await captureAllHeld(ports);
  await ports.background.run(QUEUE, async () => {
    for (const row of ports.catalog.heldCheckpoints()) {
      if (row.heldBy !== null) await keepFilesAlone(row, row.heldBy, ports);
    }
  });
}

/** Takes the files of a held incarnation as the checkpoint's, in place of what there is of it. */
export async function captureHeldFiles(
  row: CheckpointRow,
  instanceId: string,
  ports: EnginePorts,
): Promise<Partial<CheckpointRow>> {
  await ports.store.deleteCheckpoint(row.id);
  await ports.store.prepareCheckpoint(row.id, 0);
  ports.store.snapshotInstance(instanceId, row.id);
  const change = { content: "files", terminal: null, heldBy: null, heldWhy: null } as const;
  await ports.store.writeManifest(row.id, toManifest({ ...row, ...change }));
  return change;
}

async function keepFilesAlone(
  row: CheckpointRow,
  instanceId: string,
  ports: EnginePorts,
): Promise<void> {
  const change = await captureHeldFiles(row, instanceId, ports);
  ports.catalog.updateCheckpoint(row.id, change);
  scheduleDurable(row.id, ports);
  scheduleStory(row.id, ports);
  await removeInstance(instanceId, ports);
}

async function dumpHeld(
  row: CheckpointRow,
  tree: { instanceId: string; pid: number },
  ports: EnginePorts,
): Promise<void> {
  const { catalog, store, freezer, sandbox } = ports;
  const startedAtMs = performance.now();
  // A daemon that died over this may have left a part.
  await store.deleteCheckpoint(row.id);
  const group = freezer?.groupDir(tree.instanceId);
  const { memoryBytes } = await dumpInstance(row, tree, row.id, ports, group);
  const totalMs = roundMs(performance.now() - startedAtMs);
  const change = { memoryBytes, totalMs, heldBy: null, heldWhy: null };
  await store.writeManifest(row.id, toManifest({ ...row, ...change }));
  catalog.updateCheckpoint(row.id, change);
  scheduleDurable(row.id, ports);
  scheduleStory(row.id, ports);
  const startTicks = catalog.instance(tree.instanceId)?.startTicks ?? 0;
  ports.standbys.add({
    ...tree,
    startTicks,
    terminalId: row.terminal ?? 1,
    checkpointId: row.id,
    origin: "left",
    link: callInit(tree.pid, ports, CALL_TIMEOUT_MS),
    memoryBytes: sandbox.treeMemoryBytes(tree.pid),
    parkedAtMs: performance.now(),
  });
}
