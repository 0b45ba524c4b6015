import { Rollback } from "../../base/index.ts";
import type { StateRoot } from "../../portable/agent-state/index.ts";
import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { OperationDetail, OperationOutput } from "../../shared/protocol/index.ts";
import { buildFrom, removeCheckpoints, requireCaptured, roundMs } from "../checkpoint/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import {
  adoptInstance,
  type BindChoice,
  findMissingBinds,
  haltInstance,
  removeInstance,
} from "../session/index.ts";
import { captureBefore, type Loss } from "./capture-before.ts";
import { bringBack, findInTheWay, leave } from "./make-way.ts";
import { swapInStandby } from "./swap-in-standby.ts";

/** How to restore. */
export interface RestoreOptions extends Loss {
  kind: "restore" | "undo";
  /**
   * machine: files and processes, and the agent's state stays; processes: these alone, on the files as
   * they are now. @defaultValue all of the checkpoint
   */
  only?: "machine" | "processes";
  /** The agent's state stays, though all else is put back: what was left is begun again. */
  keepsAgentState?: boolean;
  /** Makes what the agent's state becomes. @defaultValue that of the checkpoint */
  agentState?: () => StateRoot;
  /** Of an undo: the operation that it takes back. */
  undoes?: number;
}

/** What a restore has done. */
export type Restored = Omit<OperationOutput<"undo">, "parts" | "files" | "check">;

/**
 * Puts a session back to a checkpoint, in place.
 *
 * What is there now is checkpointed before it is left, so that `undo` can take the restore back.
 *
 * **Requires** the caller holds the session's lease; the checkpoint is in its history.
 * **On success** the session runs from the checkpoint, under the same name, and has answered.
 * **On failure** the session is as it was, but for the checkpoint taken first; where its processes had
 * to end first and cannot come back from that either, it is `ended` with its files.
 *
 * @throws CANCELLED  whoever holds the lease does not want it any more; nothing is left of it.
 * @throws CRIU_RESTORE_FAILED | CHECKPOINT_INCOMPLETE | STORE_FULL | SANDBOX_FAILED
 * | BIND_SOURCE_MISSING
 */
export async function restoreCheckpoint(
  session: SessionRow,
  from: BindChoice & { checkpoint: CheckpointRow },
  options: RestoreOptions,
  engine: Engine,
): Promise<Restored> {
  const { catalog } = engine;
  if (options.only === "processes") refuseWithoutProcesses(from.checkpoint, options);
  const startedAtMs = performance.now();
  const bindsLeftOut = findMissingBinds(from.checkpoint.binds, from, engine);
  const quick =
    options.only !== "processes"
      ? await restoreFromStandby(session, from.checkpoint, options, engine)
      : null;
  if (quick !== null) {
    const tookMs = roundMs(performance.now() - startedAtMs);
    return { ...quick, readyMs: tookMs, totalMs: tookMs, bindsLeftOut };
  }
  const checkpoint = await requireCaptured(from.checkpoint, engine);
  if (checkpoint.content === "full")
    engine.store.images.locate(engine.store.checkpointPaths(checkpoint.id));
  const old = await findInTheWay(session, checkpoint, engine);
  const instanceId = `${session.id}-${session.instanceCount + 1}`;
  catalog.updateSession(session.id, { instanceCount: session.instanceCount + 1 });
  const build = async (filesFrom: CheckpointRow) => {
    const beganAtMs = performance.now();
    const live = await buildFrom(
      { ...from, checkpoint, filesFrom: filesFrom.id },
      ...([session, instanceId, engine] as const),
    );
    return { live, filesOf: filesFrom, readyMs: roundMs(performance.now() - beganAtMs) };
  };

  await using rollback = new Rollback();
  const removeBuilt = () => removeInstance(instanceId, engine);
  // What is captured and what is built need nothing of each other, as a rule: both at once.
  const isBeside = old === null && options.only !== "processes";
  const choice = beforeRestoreOf(checkpoint);
  const [captured, beside] = await Promise.allSettled([
    captureBefore(session, choice, options, engine),
    isBeside ? build(checkpoint) : null,
  ]);
  if (beside.status === "fulfilled" && beside.value !== null)
    rollback.defer("remove the new instance", removeBuilt);
  const before = settledValue(captured);
  rollback.defer("remove the checkpoint of what was there", () => forget(before, session, engine));
  engine.leases.throwIfCancelled(session.id);
  if (old !== null) {
    // From here on what was captured of it is all that there is of it.
    rollback.keep();
    const bring = () => bringBack(session, old, { before, instanceId }, engine);
    rollback.defer("bring the session back", bring);
    await leave(session, old, engine);
  }
  // With processes alone it goes on from the files of now.
  const filesFrom = options.only === "processes" && before !== null ? before : checkpoint;
  const { live, filesOf, readyMs } = settledValue(beside) ?? (await build(filesFrom));
  if (!isBeside) rollback.defer("remove the new instance", removeBuilt);
  // The last moment for it: what runs has not been touched, unless it had to end.
  if (old === null) engine.leases.throwIfCancelled(session.id);

  catalog.transaction(() => {
    catalog.updateSession(session.id, {
      state: "running",
      instance: instanceId,
      head: filesOf.id,
      agentState: agentStateAfter(session, checkpoint, options),
    });
    catalog.operations.insert({
      session: session.id,
      kind: options.kind,
      checkpoint: checkpoint.id,
      undo: before?.id ?? null,
      at: new Date().toISOString(),
      readyMs,
      stateBefore: session.state,
      detail: detailOf(options),
    });
  });
  rollback.keep();
  await swap(session, live, engine);
  return {
    session: session.id,
    ...reachedAt(checkpoint),
    undo: before?.id ?? null,
    undoContent: before?.content ?? null,
    readyMs,
    totalMs: roundMs(performance.now() - startedAtMs),
    bindsLeftOut,
    pid: live.pid,
  };
}

function settledValue<T>(settled: PromiseSettledResult<T>): T {
  if (settled.status === "rejected") throw settled.reason;
  return settled.value;
}

/** Returns what is answered of the checkpoint that a session is at. */
export function reachedAt({ id, name, content }: CheckpointRow) {
  return { checkpoint: id, checkpointName: name, checkpointContent: content };
}

/** A cancelled restore leaves nothing; after a failed one the checkpoint taken first may help. */
async function forget(
  before: CheckpointRow | null,
  { id }: SessionRow,
  engine: Engine,
): Promise<void> {
  if (before !== null && engine.leases.isCancelled(id))
    await removeCheckpoints([before.id], engine);
}

/** Restores from a standby. @returns `null` where the long way has to be gone. */
async function restoreFromStandby(
  session: SessionRow,
  wanted: CheckpointRow,
  options: RestoreOptions,
  engine: Engine,
) {
  // What is being dumped is a standby a moment later.
  const checkpoint = await requireCaptured(wanted, engine).catch(() => wanted);
  const before = options.withoutUndo ? null : { ...beforeRestoreOf(checkpoint), filesOnly: false };
  const { kind } = options;
  const agentState = () => agentStateAfter(session, checkpoint, options);
  const choice = { kind, before, detail: detailOf(options), agentState };
  const swapped = await swapInStandby(session, checkpoint, choice, engine);
  if (swapped === null) return null;
  return {
    session: session.id,
    ...reachedAt(checkpoint),
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

function agentStateAfter(
  session: SessionRow,
  checkpoint: CheckpointRow,
  { only, keepsAgentState, agentState }: RestoreOptions,
): StateRoot {
  if (only !== undefined || keepsAgentState === true) return session.agentState;
  return agentState === undefined ? checkpoint.agentState : agentState();
}

/** What the log says of it beyond that it was done. */
function detailOf({ only, undoes }: RestoreOptions): OperationDetail | null {
  if (only === undefined && undoes === undefined) return null;
  const parts = only === undefined ? null : { only, paths: [], except: [] };
  return { parts, since: null, undoes: undoes ?? null, state: "done", put: 0, removed: 0 };
}

/** @throws PART_NOT_CAPTURED | USAGE_INVALID */
function refuseWithoutProcesses({ id, content }: CheckpointRow, { withoutUndo }: Loss): void {
  if (content === "files") {
    throw new WaypointError("PART_NOT_CAPTURED", `Checkpoint ${id} holds files alone.`, {
      hint: "Restore it without --only: the session gets a fresh shell on its files.",
      detail: { checkpoint: id },
    });
  }
  if (!withoutUndo) return;
  throw new WaypointError("USAGE_INVALID", "Processes alone need what is there now captured.", {
    hint: "They are put on its files; leave out --without-undo.",
  });
}

/** Puts the new instance in the old one's place; the old one's processes go no further. */
async function swap(session: SessionRow, live: LiveInstance, engine: Engine): Promise<void> {
  const old = engine.live.get(session.id);
  adoptInstance(live, engine);
  old?.link.end(
    new WaypointError("SESSION_ENDED", `Session ${session.name} was restored meanwhile.`, {
      hint: "The command ran in the state that was left; run it again.",
    }),
  );
  const { instance } = session;
  if (instance === null) return;
  haltInstance(instance, engine);
  // Its memory, mount, network and files cost time and disturb nobody: they go after the answer.
  void engine.background
    .run("remove", () => removeInstance(instance, engine))
    .catch((error: unknown) => engine.logger.error("remove an old instance", error, { instance }));
}
