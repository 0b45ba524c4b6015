import { Rollback, settleAll } from "../../base/index.ts";
import type { StateRoot } from "../../portable/agent-state/index.ts";
import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { OperationDetail } from "../../shared/protocol/index.ts";
import {
  type CheckpointOptions,
  captureHeldFiles,
  checkpointRow,
  roundMs,
  scheduleHeld,
  syncSoon,
} from "../checkpoint/index.ts";
import { captureDecisions } from "../decisions/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import { adoptInstance, callInit, enlistInstance, removeInstance } from "../session/index.ts";
import { unpark, unparkFor } from "../standby/index.ts";

/** A tree that does not stand still in this time is left in the long way. */
const FREEZE_TIMEOUT_MS = 100;

/** What a restore from a standby has to know. */
export interface SwapOptions {
  kind: "restore" | "undo";
  /** What to note of what is there now; `null` keeps nothing of it. */
  before: CheckpointOptions | null;
  detail: OperationDetail | null;
  /** Makes what the agent's state becomes, in the step that makes it so. */
  agentState: () => StateRoot;
}

/** A session that stands at another checkpoint, and what `undo` would take it back to. */
export interface Swapped {
  live: LiveInstance;
  before: CheckpointRow | null;
}

/**
 * Puts a session back to a checkpoint that has a standby.
 *
 * What is there now is frozen and held as the checkpoint that `undo` goes back to.
 *
 * **Requires** the caller holds the session's lease.
 * **On success** the session runs from the checkpoint and has answered.
 * **On failure** the session runs on as it was, and nothing of this is recorded.
 *
 * @returns `null` where there is no standby, or what is there now cannot be left so: nothing has
 * changed then, and the long way is to be gone.
 */
export async function swapInStandby(
  session: SessionRow,
  target: CheckpointRow,
  options: SwapOptions,
  engine: Engine,
): Promise<Swapped | null> {
  const startedAtMs = performance.now();
  const old = engine.live.get(session.id);
  if (old === undefined || !canBeLeft(session, target, old, engine)) return null;
  await using rollback = new Rollback();
  const heldChange = await swapInHeld(target, engine, rollback);
  const commands = engine.journal.soFar(old.instanceId);
  rollback.defer("let the session run on", () => resumeHeld(old, engine));
  const [isHeld, fresh] = await settleAll([hold(old, engine), wakeTarget(target, engine)]);
  if (fresh === null) return null;
  rollback.defer("return the standby", () => returnStandby(target, fresh, engine));
  if (!isHeld) return null;
  const live = { ...fresh, sessionId: session.id };
  const before = record(session, { target, heldChange, old, live, startedAtMs }, options, engine);

  rollback.keep();
  leave(session, { old, live, before }, engine);
  if (before !== null) {
    engine.journal.keep(before.id, commands);
    captureDecisions(old.instanceId, before, engine);
    // It stands still: what it has counted does not change any more.
    void engine.contacts.settle(old.instanceId, before.id);
  }
  return { live, before };
}

/**
 * What cannot be dumped is kept at most once per session: until then it stays frozen in memory.
 * With two, a session whose processes CRIU refuses would take more with every restore.
 */
function canBeLeft(
  session: SessionRow,
  target: CheckpointRow,
  old: LiveInstance,
  engine: Engine,
): boolean {
  const { freezer, catalog, filling, standbys } = engine;
  if (freezer === null || session.net === "host" || session.binds.length > 0) return false;
  // Memory that is still on its way cannot come to what stands still.
  if (filling.has(old.instanceId)) return false;
  const refused = catalog
    .heldCheckpoints()
    .filter((row) => row.session === session.id && row.heldWhy !== null && row.id !== target.id);
  if (refused.length > 0) return false;
  if (freezer.holds(old.instanceId)) return true;
  // A daemon that has just started has taken none in yet, nor those that keep no standbys.
  const isReady = target.heldBy !== null || standbys.has(target.id);
  return isReady && takeIn(old, engine);
}

function takeIn(old: LiveInstance, engine: Engine): boolean {
  try {
    return enlistInstance(old, engine);
  } catch (error) {
    engine.logger.warn("a session cannot be frozen", { id: old.instanceId, reason: String(error) });
    return false;
  }
}

/** A checkpoint that could not be dumped is about to run on: what remains of it are its files. */
async function swapInHeld(
  target: CheckpointRow,
  engine: Engine,
  rollback: Rollback,
): Promise<Partial<CheckpointRow>> {
  if (target.heldBy === null) return {};
  return await captureHeldFiles(target, target.heldBy, engine, rollback);
}

async function wakeTarget(
  target: CheckpointRow,
  engine: Engine,
): Promise<Omit<LiveInstance, "sessionId"> | null> {
  if (target.heldBy === null) return await unparkFor(target, ["left", "made"], engine);
  const row = engine.catalog.instance(target.heldBy);
  if (row?.pid == null || row.startTicks === null) return null;
  const { id: instanceId, pid, startTicks } = row;
  const held = { instanceId, pid, startTicks, terminalId: target.terminal ?? 1 };
  const woken = await unpark({ ...held, link: callInit(pid, engine) }, engine);
  // It is the only one there is of that instant.
  if (woken === null) await engine.freezer?.freeze(instanceId, FREEZE_TIMEOUT_MS);
  return woken;
}

/** Lets nothing of an instance take another step. */
async function hold({ link, instanceId }: LiveInstance, engine: Engine): Promise<boolean> {
  try {
    await link.quiesce();
    return (await engine.freezer?.freeze(instanceId, FREEZE_TIMEOUT_MS)) ?? false;
  } catch (error) {
    engine.logger.warn("a session was not held", { instanceId, reason: String(error) });
    return false;
  }
}

async function resumeHeld({ link, instanceId }: LiveInstance, engine: Engine): Promise<void> {
  engine.freezer?.thaw(instanceId);
  // A session that has ended meanwhile is noted as such elsewhere.
  await link.resume().catch(() => {});
}

/** Ends what was brought to life in vain; what cannot be restored again stands still again. */
async function returnStandby(
  target: CheckpointRow,
  { instanceId, link }: Pick<LiveInstance, "instanceId" | "link">,
  engine: Engine,
): Promise<void> {
  link.end(new WaypointError("SESSION_ENDED", "The restore failed."));
  if (target.heldBy === null) await removeInstance(instanceId, engine);
  else await engine.freezer?.freeze(instanceId, FREEZE_TIMEOUT_MS);
}

interface Swap {
  target: CheckpointRow;
  heldChange: Partial<CheckpointRow>;
  old: LiveInstance;
  live: LiveInstance;
  startedAtMs: number;
}

/** Notes the whole move in one step: before it the old instance is the session's, then the new. */
function record(
  session: SessionRow,
  { target, heldChange, old, live, startedAtMs }: Swap,
  options: SwapOptions,
  engine: Engine,
): CheckpointRow | null {
  const { catalog } = engine;
  const totalMs = roundMs(performance.now() - startedAtMs);
  const facts = {
    ...{
      id: engine.newId(),
      createdAt: new Date().toISOString(),
      pauseMs: 0,
      totalMs,
      memoryBytes: 0,
      pauseBytes: null,
    },
    unchangedSince: null,
    imagesSums: null,
  };
  const before =
    options.before === null
      ? null
      : {
          ...checkpointRow(session, old, options.before, engine, facts),
          heldBy: old.instanceId,
        };
  catalog.quickTransaction(() => {
    if (before !== null) catalog.insertCheckpoint(before);
    catalog.updateCheckpoint(target.id, heldChange);
    catalog.updateSession(session.id, {
      state: "running",
      instance: live.instanceId,
      instanceCount: session.instanceCount + 1,
      head: target.id,
      agentState: options.agentState(),
    });
    catalog.operations.insert({
      session: session.id,
      kind: options.kind,
      checkpoint: target.id,
      undo: before?.id ?? null,
      at: new Date().toISOString(),
      readyMs: totalMs,
      stateBefore: session.state,
      detail: options.detail,
    });
  });
  return before;
}

function leave(
  session: SessionRow,
  { old, live, before }: { old: LiveInstance } & Swapped,
  engine: Engine,
): void {
  adoptInstance(live, engine);
  old.link.end(
    new WaypointError("SESSION_ENDED", `Session ${session.name} was restored meanwhile.`, {
      hint: "The command ran in the state that was left; run it again.",
    }),
  );
  syncSoon(engine);
  if (before !== null) {
    scheduleHeld(before.id, engine);
    return;
  }
  void engine.background
    .run("remove", () => {
      // Its files must not go before it is certain that the session has others.
      engine.catalog.sync();
      return removeInstance(old.instanceId, engine);
    })
    .catch((error: unknown) => engine.logger.error("remove an old instance", error, {}));
}
