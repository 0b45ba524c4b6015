import { totalmem } from "node:os";
import type { PagesState } from "../../linux/criu/index.ts";
import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import { fillAll, fillWhenIdle, memoryLost } from "./fill-memory.ts";
import { workDirOf } from "./instance-paths.ts";

/** Of a memory limit, what the captured memory may be: what is filled counts, as it comes. */
const LIMIT_SHARE_MAX = 0.75;
/** Of the largest process, what all others together may have. See {@link isWorthCapturing}. */
const OTHERS_SHARE_MAX = 0.5;

type Limited = Pick<SessionRow, "memoryLimitBytes">;

/**
 * Starts to serve an instance's memory, if its checkpoint is large enough to gain by that.
 *
 * @returns whether CRIU is to restore it lazily.
 */
export async function startServing(
  instanceId: string,
  from: { session: Limited; checkpoint: CheckpointRow; imagesDir: string; touchedOnly: boolean },
  engine: Engine,
): Promise<boolean> {
  const { checkpoint, imagesDir, touchedOnly: isTouchedOnly } = from;
  const { pagesServerPath, lazyBytesMin } = engine.settings;
  if (checkpoint.memoryBytes < lazyBytesMin) return false;
  try {
    if (!(await isWorthCapturing(from, engine))) return false;
    const workDir = workDirOf(instanceId);
    // The row comes first: whatever the server does, the next daemon knows that there is one.
    engine.catalog.updateInstance(instanceId, { fillingFrom: checkpoint.id });
    const { sumsPath } = engine.store.checkpointPaths(checkpoint.id);
    const compared = checkpoint.imagesSums === null ? null : sumsPath;
    const served = { pagesServerPath, imagesDir, workDir, sumsPath: compared, isTouchedOnly };
    await engine.criu.startPagesServer(served);
    return true;
  } catch (error) {
    engine.logger.warn("restored at once instead of lazily", { instanceId, reason: String(error) });
    engine.catalog.updateInstance(instanceId, { fillingFrom: null });
    return false;
  }
}

/**
 * A lazy restore gives each process all of its pages: what a parent and its children shared, since
 * none had written to it, would take its room once for each. A few large processes at the side of
 * one large one are the sign of that.
 *
 * And it makes all addresses writable for a moment, also those that a program has only reserved
 * (MariaDB: 8 TiB); the kernel refuses a range that is longer than its memory.
 */
async function isWorthCapturing(
  { session, imagesDir }: { session: Limited; imagesDir: string },
  engine: Engine,
): Promise<boolean> {
  const memory = await engine.criu.measureMemory(imagesDir);
  const { totalBytes, largestBytes, longestRangeBytes } = memory;
  if (longestRangeBytes >= totalmem()) return false;
  if (totalBytes < engine.settings.lazyBytesMin) return false;
  if (totalBytes - largestBytes > largestBytes * OTHERS_SHARE_MAX) return false;
  const limitBytes = session.memoryLimitBytes;
  return limitBytes === null || totalBytes <= limitBytes * LIMIT_SHARE_MAX;
}

/**
 * Follows the filling of a live instance to its end, if it is not whole yet, and has what nobody touches
 * brought while nobody waits.
 *
 * Memory that is lost, or does not come in time, ends its processes; whoever adopted the
 * instance learns of that.
 */
export function followFilling(live: LiveInstance, engine: Engine): void {
  const { instanceId } = live;
  if (engine.catalog.instance(instanceId)?.fillingFrom == null) return;
  const ended = new AbortController();
  const failed = (error: unknown) =>
    engine.logger.error("follow a lazy restore", error, { instanceId });
  const outcome = engine.criu
    .awaitPagesServer(workDirOf(instanceId))
    .then((state) => settle(live, state, engine));
  engine.filling.set(instanceId, outcome);
  void outcome.catch(failed).finally(() => {
    ended.abort();
    engine.filling.delete(instanceId);
  });
  void fillWhenIdle(live, ended.signal, engine).catch(failed);
}

async function settle(live: LiveInstance, state: PagesState, engine: Engine): Promise<PagesState> {
  const { sessionId, instanceId, pid, startTicks } = live;
  if (state.kind === "whole") engine.catalog.updateInstance(instanceId, { fillingFrom: null });
  // One that was ended or replaced has no use for its memory.
  const isCurrent = engine.live.get(sessionId)?.instanceId === instanceId;
  if (state.kind === "whole" || !isCurrent) return state;
  engine.logger.error("the pages server of a session died", state.reason, { instanceId });
  await engine.sandbox.killTree(pid, startTicks);
  return state;
}

/** Tells whether an instance was restored lazily, and is not known to have all of its memory. */
export function isServed(instanceId: string, { catalog }: Engine): boolean {
  return catalog.instance(instanceId)?.fillingFrom != null;
}

/**
 * Ends an instance that is no session's when its memory is lost, as long as it is needed: nobody else would
 * see what its keeper, ended too, could not do.
 */
export async function endIfLost(
  { instanceId, pid, startTicks }: LiveInstance,
  isNeeded: () => boolean,
  engine: Engine,
): Promise<void> {
  if (!(await hasLostMemory(instanceId, engine)) || !isNeeded()) return;
  engine.logger.error("the pages server of a fork died", undefined, { instanceId });
  await engine.sandbox.killTree(pid, startTicks);
}

/** Tells whether an instance whose processes have ended did so for the loss of its memory. */
export async function hasLostMemory(instanceId: string, engine: Engine): Promise<boolean> {
  if (engine.catalog.instance(instanceId)?.fillingFrom == null) return false;
  return (await engine.criu.awaitPagesServer(workDirOf(instanceId))).kind === "lost";
}

/**
 * Has all memory of an instance brought at once, and resolves when it is where it belongs.
 *
 * @throws SESSION_ENDED  its pages server died or took too long; it is restored again.
 */
export async function untilWhole(live: LiveInstance, engine: Engine): Promise<void> {
  const outcome = engine.filling.get(live.instanceId);
  if (outcome === undefined) return;
  await fillAll(live, engine);
  const state = await outcome;
  if (state.kind === "whole") return;
  throw memoryLost(state);
}
