import { setTimeout as delay } from "node:timers/promises";
import type { TreeActivity } from "../../linux/sandbox/index.ts";
import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";

/** The threads of a session need this long to fall asleep again after a dump. */
const SETTLE_TRIES_MAX = 10;
const SETTLE_INTERVAL_MS = 2;

/** What was there when a checkpoint was taken, and still is as long as nothing differs from it. */
interface Baseline {
  /** Checkpoints that hold it. */
  checkpoints: Set<string>;
  activity: TreeActivity;
  /** Number of the files' state. */
  files: bigint;
}

/**
 * The newest captures of each instance that this daemon has made itself. A restored or found
 * instance has none: nobody has watched it since its processes were captured.
 */
const baselines = new WeakMap<LiveInstance, Promise<Baseline | null>>();

/** Follows a session through its dump. */
interface Watch {
  /** Notes that a checkpoint has captured what is there now, if nothing else happened meanwhile. */
  settle: (checkpointId: string) => void;
}

/**
 * Begins to watch a session that is about to be dumped.
 *
 * Every thread runs a little because of the dump. So captures are taken for what is there after it
 * only where before it each thread waited without end, where none of them waits for something else
 * after it, and where the daemon asked init for nothing in between: then nobody had a cause to do
 * anything. Otherwise there is no baseline, and the next checkpoint is captured in full.
 */
export function watchForChange(session: SessionRow, live: LiveInstance, engine: Engine): Watch {
  baselines.delete(live);
  // What comes through a network or a directory of the host is not seen from here.
  const isClosed = session.net !== "host" && session.binds.length === 0;
  const before = isClosed ? engine.sandbox.treeActivity(live.pid) : null;
  const { requestCount } = live.link;
  return {
    settle: (checkpointId) => {
      if (before === null) return;
      const settled = settle(live, { before, requestCount, checkpointId }, engine);
      baselines.set(
        live,
        settled.catch(() => null),
      );
    },
  };
}

async function settle(
  live: LiveInstance,
  { before, requestCount, checkpointId }: SettleOptions,
  engine: Engine,
): Promise<Baseline | null> {
  const { treeActivity, isSameActivity, isSameWait } = engine.sandbox;
  let last: TreeActivity | null = null;
  for (let tries = 0; tries < SETTLE_TRIES_MAX; tries += 1) {
    await delay(SETTLE_INTERVAL_MS);
    const activity = treeActivity(live.pid);
    if (live.link.requestCount !== requestCount) return null;
    const isSettled = last !== null && activity !== null && isSameActivity(last, activity);
    last = activity;
    if (!isSettled || activity === null) continue;
    if (!isSameWait(before, activity, live.pid)) return null;
    if (await hasAlarm(checkpointId, engine)) return null;
    const files = engine.store.filesOfCheckpoint(checkpointId);
    return { checkpoints: new Set([checkpointId]), activity, files };
  }
  return null;
}

async function hasAlarm(checkpointId: string, { criu, store }: Engine): Promise<boolean> {
  using held = store.images.hold(store.checkpointPaths(checkpointId), { isUse: false });
  return await criu.hasAlarm(held.imagesDir);
}

interface SettleOptions {
  before: TreeActivity;
  requestCount: number;
  checkpointId: string;
}

/** Notes that one more checkpoint holds the baseline of an instance. */
export function noteBaseline(live: LiveInstance, checkpointId: string): void {
  void baselines.get(live)?.then((baseline) => baseline?.checkpoints.add(checkpointId));
}

/**
 * Returns the checkpoint on which a session stands, if nothing has run, arrived or been written
 * since it was captured; null when something has, or when it cannot be told.
 */
export async function parentIfUnchanged(
  session: SessionRow,
  live: LiveInstance,
  engine: Engine,
): Promise<CheckpointRow | null> {
  const baseline = await baselines.get(live);
  if (baseline == null || session.head === null) return null;
  const parent = engine.catalog.checkpoint(session.head);
  if (parent?.content !== "full" || !baseline.checkpoints.has(parent.id)) return null;
  const now = engine.sandbox.treeActivity(live.pid);
  if (now === null || !engine.sandbox.isSameActivity(baseline.activity, now)) return null;
  // The files last: this takes a moment, in which a thread may begin to run and to write.
  const files = await engine.store.filesOfInstance(live.instanceId);
  return files === baseline.files ? parent : null;
}

/**
 * Returns the checkpoint on which a session stands, if the machine is as {@link parentIfUnchanged} has
 * it and the agent's state is the same, too; null when something has changed or cannot be told.
 */
export async function headIfUnchanged(
  session: SessionRow,
  engine: Engine,
): Promise<CheckpointRow | null> {
  const live = engine.live.get(session.id);
  if (live === undefined) return null;
  const head = await parentIfUnchanged(session, live, engine);
  return head?.agentState === session.agentState ? head : null;
}
