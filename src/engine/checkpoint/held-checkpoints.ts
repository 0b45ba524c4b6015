import { setTimeout as delay } from "node:timers/promises";
import { Rollback } from "../../base/index.ts";
import type { CheckpointRow } from "../../portable/model/index.ts";
import { toWaypointError } from "../../shared/errors/index.ts";
import type { Engine } from "../ports/index.ts";
import { callInit, removeInstance } from "../session/index.ts";
import { scheduleStory } from "../story/index.ts";
import { roundMs } from "./checkpoint-row.ts";
import { dumpInstance } from "./dump-instance.ts";
import { scheduleDurable } from "./make-durable.ts";
import { writeManifest } from "./write-manifest.ts";

/**
 * What a restore from a standby leaves is frozen and *held*: it is the checkpoint that `undo` goes
 * back to until CRIU has dumped it, which nobody has to wait for.
 */

const QUEUE = "held";
/** The first commands after a restore come before the dump of what it left. */
const DUMP_DELAY_MS = 50;
const CALL_TIMEOUT_MS = 2 ** 31 - 1;

/** Dumps a held checkpoint soon, in the background; a failure is noted in its row. */
export function scheduleHeld(checkpointId: string, engine: Engine): void {
  void delay(DUMP_DELAY_MS, undefined, { ref: false })
    .then(() => captureHeld(checkpointId, engine))
    .catch((error: unknown) => {
      engine.logger.warn("a held checkpoint stays held", { checkpointId, reason: String(error) });
    });
}

/**
 * Returns a checkpoint that can be restored and forked, when what holds it has been dumped.
 *
 * @throws CRIU_DUMP_FAILED  CRIU refused it; `undo` still goes back to the processes themselves.
 * @throws FORMAT_TOO_NEW  a newer Waypoint has written it.
 */
export async function requireCaptured(row: CheckpointRow, engine: Engine): Promise<CheckpointRow> {
  if (row.heldBy === null) {
    engine.store.requireKnown(row.id);
    return row;
  }
  await captureHeld(row.id, engine);
  return engine.catalog.checkpoint(row.id) ?? row;
}

/**
 * Dumps what holds a checkpoint, if something does. Idempotent.
 *
 * **On success** it is `captured` like any other; what held it is a standby, or ended.
 * **On failure** it is held as before, and its row says why.
 *
 * @throws CRIU_DUMP_FAILED | STORE_FULL
 */
export async function captureHeld(checkpointId: string, engine: Engine): Promise<void> {
  await engine.background.run(QUEUE, async () => {
    const row = engine.catalog.checkpoint(checkpointId);
    if (row === undefined || row.heldBy === null) return;
    const instance = engine.catalog.instance(row.heldBy);
    const pid = instance?.pid ?? null;
    if (pid === null || engine.sandbox.startTicks(pid) !== instance?.startTicks) {
      engine.logger.warn("a held checkpoint has lost its processes", { checkpointId });
      await keepFilesAlone(row, row.heldBy, engine);
      return;
    }
    try {
      await dumpHeld(row, { instanceId: row.heldBy, pid }, engine);
    } catch (error) {
      const { message } = toWaypointError(error);
      engine.catalog.updateCheckpoint(checkpointId, { heldWhy: message });
      throw error;
    }
  });
}

/** Dumps all that is held, for the end of the daemon; what CRIU refuses stays held. */
export async function captureAllHeld(engine: Engine): Promise<void> {
  for (const { id, heldWhy } of engine.catalog.heldCheckpoints()) {
    if (heldWhy === null) await captureHeld(id, engine).catch(() => {});
  }
}

/** Ends what is held and cannot be dumped; its files are kept. For the end of all sessions. */
export async function releaseHeld(engine: Engine): Promise<void> {
  await captureAllHeld(engine);
  await engine.background.run(QUEUE, async () => {
    for (const row of engine.catalog.heldCheckpoints()) {
      if (row.heldBy !== null) await keepFilesAlone(row, row.heldBy, engine);
    }
  });
}

/**
 * Takes the files of a held instance as the checkpoint's, in place of what there is of it; `rollback`
 * removes them.
 */
export async function captureHeldFiles(
  row: CheckpointRow,
  instanceId: string,
  engine: Engine,
  rollback: Rollback,
): Promise<Partial<CheckpointRow>> {
  await beginAnew(row, engine, rollback);
  await engine.store.prepareCheckpoint(row.id, 0);
  engine.store.snapshotInstance(instanceId, row.id);
  const change = { content: "files", terminal: null, heldBy: null, heldWhy: null } as const;
  await writeManifest(row.id, engine, change);
  return change;
}

async function keepFilesAlone(
  row: CheckpointRow,
  instanceId: string,
  engine: Engine,
): Promise<void> {
  await using rollback = new Rollback();
  const change = await captureHeldFiles(row, instanceId, engine, rollback);
  engine.catalog.updateCheckpoint(row.id, change);
  rollback.keep();
  scheduleDurable(row.id, engine);
  scheduleStory(row.id, engine);
  await removeInstance(instanceId, engine);
}

async function dumpHeld(
  row: CheckpointRow,
  tree: { instanceId: string; pid: number },
  engine: Engine,
): Promise<void> {
  const { catalog, freezer, sandbox } = engine;
  const startedAtMs = performance.now();
  await using rollback = new Rollback();
  await beginAnew(row, engine, rollback);
  const group = freezer?.groupDir(tree.instanceId);
  const { memoryBytes } = await dumpInstance(row, tree, row.id, engine, { frozenIn: group });
  const totalMs = roundMs(performance.now() - startedAtMs);
  const change = { memoryBytes, totalMs, heldBy: null, heldWhy: null };
  await writeManifest(row.id, engine, change);
  catalog.updateCheckpoint(row.id, change);
  rollback.keep();
  scheduleDurable(row.id, engine);
  scheduleStory(row.id, engine);
  const startTicks = catalog.instance(tree.instanceId)?.startTicks ?? 0;
  engine.standbys.add({
    ...tree,
    startTicks,
    terminalId: row.terminal ?? 1,
    checkpointId: row.id,
    origin: "left",
    link: callInit(tree.pid, engine, CALL_TIMEOUT_MS),
    memoryBytes: sandbox.treeMemoryBytes(tree.pid),
    parkedAtMs: performance.now(),
  });
}

/** Removes what a daemon that died over this may have left, now and where this fails. */
async function beginAnew({ id }: CheckpointRow, { store }: Engine, rollback: Rollback) {
  await store.deleteCheckpoint(id);
  rollback.defer("remove what was captured in part", () => store.deleteCheckpoint(id));
}
