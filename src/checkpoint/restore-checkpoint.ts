import type { CheckpointRow, SessionRow } from "../catalog/index.ts";
import { hasCode, WaypointError } from "../errors/index.ts";
import type { OperationOutput } from "../protocol/index.ts";
import {
  adoptInstance,
  type BindChoice,
  type EnginePorts,
  endInstance,
  findMissingBinds,
  haltInstance,
  type LiveInstance,
  removeInstance,
} from "../session/index.ts";
import { createCheckpoint } from "./create-checkpoint.ts";
import { buildFrom } from "./fork-checkpoint.ts";
import { requireCaptured } from "./held-checkpoints.ts";
import { roundMs } from "./round-ms.ts";
import { swapInStandby } from "./swap-in-standby.ts";

/** What a restore may lose of what is there now. */
export interface RestoreOptions {
  kind: "restore" | "undo";
  /** Keep files alone for undo when CRIU refuses the running processes. */
  loseProcesses: boolean;
  /** Keep nothing for undo. */
  withoutUndo: boolean;
}

/**
 * Puts a session back to a checkpoint, in place.
 *
 * What is there now is checkpointed first, so that `undo` can take the restore back.
 *
 * **Requires** the caller holds the session's lease; the checkpoint is in its history.
 * **On success** the session runs from the checkpoint, under the same name, and has answered.
 * **On failure** the session is as it was, but for the checkpoint taken first.
 *
 * @throws CRIU_RESTORE_FAILED | CHECKPOINT_INCOMPLETE | STORE_FULL | SANDBOX_FAILED
 * | BIND_SOURCE_MISSING
 */
export async function restoreCheckpoint(
  session: SessionRow,
  from: BindChoice & { checkpoint: CheckpointRow },
  options: RestoreOptions,
  ports: EnginePorts,
): Promise<OperationOutput<"restore">> {
  const { catalog } = ports;
  const startedAtMs = performance.now();
  const bindsLeftOut = findMissingBinds(from.checkpoint.binds, from, ports);
  const quick = await restoreAtOnce(session, from.checkpoint, options, ports);
  if (quick !== null) {
    const tookMs = roundMs(performance.now() - startedAtMs);
    return { ...quick, readyMs: tookMs, totalMs: tookMs, bindsLeftOut };
  }
  const checkpoint = await requireCaptured(from.checkpoint, ports);
  if (checkpoint.content === "full")
    ports.store.images.locate(ports.store.checkpointPaths(checkpoint.id));
  const before = await captureBefore(session, checkpoint, options, ports);

  const restoreStartedAtMs = performance.now();
  const instanceId = `${session.id}-${session.instanceCount + 1}`;
  catalog.updateSession(session.id, { instanceCount: session.instanceCount + 1 });
  const live = await bringUp(session, instanceId, { ...from, checkpoint, before }, ports);
  const readyMs = roundMs(performance.now() - restoreStartedAtMs);

  catalog.transaction(() => {
    catalog.updateSession(session.id, {
      state: "running",
      instance: instanceId,
      head: checkpoint.id,
    });
    catalog.insertOperation({
      session: session.id,
      kind: options.kind,
      checkpoint: checkpoint.id,
      undo: before?.id ?? null,
      at: new Date().toISOString(),
      readyMs,
      stateBefore: session.state,
    });
  });
  await swap(session, live, ports);
  return {
    session: session.id,
    checkpoint: checkpoint.id,
    undo: before?.id ?? null,
    undoContent: before?.content ?? null,
    readyMs,
    totalMs: roundMs(performance.now() - startedAtMs),
    bindsLeftOut,
    pid: live.pid,
  };
}

/**
 * Takes a session's last restore or undo back; the undo can be undone in turn.
 *
 * @throws NOTHING_TO_UNDO, and what {@link restoreCheckpoint} throws.
 */
export async function undoRestore(
  session: SessionRow,
  options: Omit<RestoreOptions, "kind"> & BindChoice,
  ports: EnginePorts,
): Promise<OperationOutput<"undo">> {
  const last = ports.catalog.lastMove(session.id);
  const checkpoint = last?.undo == null ? undefined : ports.catalog.checkpoint(last.undo);
  if (checkpoint === undefined) {
    throw new WaypointError("NOTHING_TO_UNDO", `Session ${session.name} has no restore to undo.`, {
      hint: "`waypoint log` lists the checkpoints that it can be put back to.",
    });
  }
  const { withoutBinds, ...loss } = options;
  return restoreCheckpoint(session, { checkpoint, withoutBinds }, { ...loss, kind: "undo" }, ports);
}

/** Restores from a standby. @returns `null` where the long way has to be gone. */
async function restoreAtOnce(
  session: SessionRow,
  wanted: CheckpointRow,
  { kind, withoutUndo }: RestoreOptions,
  ports: EnginePorts,
) {
  // What is being dumped is a standby a moment later.
  const checkpoint = await requireCaptured(wanted, ports).catch(() => wanted);
  const before = withoutUndo ? null : { ...beforeRestoreOf(checkpoint), filesOnly: false };
  const swapped = await swapInStandby(session, checkpoint, { kind, before }, ports);
  if (swapped === null) return null;
  return {
    session: session.id,
    checkpoint: checkpoint.id,
    undo: swapped.before?.id ?? null,
    undoContent: swapped.before?.content ?? null,
    pid: swapped.live.pid,
  };
}

/** What a checkpoint of what a restore will replace is. */
function beforeRestoreOf({ id, name }: CheckpointRow) {
  const intent = `before the restore of ${name ?? id}`;
  return { trigger: "before-restore", intent, name: null, movesHead: false } as const;
}

/**
 * Captures what a restore will replace.
 *
 * @returns `null` when the user wants no undo.
 * @throws CRIU_DUMP_FAILED  the processes cannot be captured and the user did not give them up.
 */
async function captureBefore(
  session: SessionRow,
  target: CheckpointRow,
  loss: RestoreOptions,
  ports: EnginePorts,
): Promise<CheckpointRow | null> {
  if (loss.withoutUndo) return null;
  const options = beforeRestoreOf(target);
  try {
    return await createCheckpoint(session, { ...options, filesOnly: false }, ports);
  } catch (error) {
    if (hasCode(error, "CRIU_DUMP_FAILED") && loss.loseProcesses) {
      return await createCheckpoint(session, { ...options, filesOnly: true }, ports);
    }
    throw withWayOut(error);
  }
}

/** Someone whose session cannot be captured must still be able to go back, knowing what is lost. */
function withWayOut(error: unknown): unknown {
  const wayOut = hasCode(error, "CRIU_DUMP_FAILED")
    ? "`--lose-processes` restores all the same; undo then has the files alone."
    : hasCode(error, "STORE_FULL")
      ? "`--without-undo` restores without keeping what is there now."
      : null;
  if (wayOut === null || !(error instanceof WaypointError)) return error;
  const { code, message, hint, detail } = error;
  return new WaypointError(code, message, {
    hint: hint === null ? wayOut : `${hint} ${wayOut}`,
    detail,
    cause: error,
  });
}

async function bringUp(
  session: SessionRow,
  instanceId: string,
  from: BindChoice & { checkpoint: CheckpointRow; before: CheckpointRow | null },
  ports: EnginePorts,
): Promise<LiveInstance> {
  if (session.net !== "host") return await buildFrom(from, session, instanceId, ports);
  // On the host's network the old processes hold the ports that the new ones need.
  const old = ports.live.get(session.id);
  if (old !== undefined) await leave(session, old, ports);
  try {
    return await buildFrom(from, session, instanceId, ports);
  } catch (error) {
    if (old !== undefined && from.before !== null) {
      const rescueId = `${instanceId}-rescue`;
      const back = { checkpoint: from.before, withoutBinds: true };
      const rescued = await buildFrom(back, session, rescueId, ports);
      ports.catalog.updateSession(session.id, { instance: rescueId });
      adoptInstance(rescued, ports);
      await removeInstance(old.instanceId, ports);
    }
    throw error;
  }
}

/** Puts the new incarnation in the old one's place; the old one's processes go no further. */
async function swap(session: SessionRow, live: LiveInstance, ports: EnginePorts): Promise<void> {
  const old = ports.live.get(session.id);
  adoptInstance(live, ports);
  old?.link.end(
    new WaypointError("SESSION_ENDED", `Session ${session.name} was restored meanwhile.`, {
      hint: "The command ran in the state that was left; run it again.",
    }),
  );
  const { instance } = session;
  if (instance === null) return;
  haltInstance(instance, ports);
  // Its memory, mount, network and files cost time and disturb nobody: they go after the answer.
  void ports.background
    .run("remove", () => removeInstance(instance, ports))
    .catch((error: unknown) =>
      ports.logger.error("remove an old incarnation", error, { instance }),
    );
}

async function leave(session: SessionRow, old: LiveInstance, ports: EnginePorts): Promise<void> {
  ports.live.delete(session.id, old.instanceId);
  old.link.end(new WaypointError("SESSION_ENDED", `Session ${session.name} is being restored.`));
  await endInstance(old.instanceId, ports);
}
