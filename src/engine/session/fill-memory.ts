import { setTimeout as delay } from "node:timers/promises";
import type { PagesState } from "../../linux/criu/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import { workDirOf } from "./instance-paths.ts";

/** What is brought in one go while nobody waits, of one session at a time: some ten milliseconds. */
const STEP_BYTES = 16 * 1024 ** 2;
/** When to fill. */
interface FillPace {
  /** A session that was just made is asked for something at once; and some are removed soon. */
  beginDelayMs: number;
  /** How often to look, where nothing is to be brought, whether the server is well and memory is free. */
  lookIntervalMs: number;
}

const PACE: FillPace = { beginDelayMs: 1_000, lookIntervalMs: 5_000 };
/** A server that does not bring a step in this time never will. */
const STEP_TIMEOUT_MS = 60_000;
/** A server answers between two of its steps. */
const KEEP_TIMEOUT_MS = 10_000;
/** How much must come in a millisecond where all is brought at once. */
const FILL_BYTES_PER_MS_MIN = 16 * 1024;

/**
 * Has what nobody touches brought to a live instance, step by step: one step at a time of all sessions,
 * and none while somebody waits for something, or where it would make memory short.
 *
 * @param ended  aborted when nothing is to be brought any more.
 */
export async function fillWhenIdle(
  live: LiveInstance,
  ended: AbortSignal,
  engine: Engine,
  { beginDelayMs, lookIntervalMs } = PACE,
): Promise<void> {
  const workDir = workDirOf(live.instanceId);
  try {
    await delay(beginDelayMs, undefined, { signal: ended, ref: false });
    let left = await engine.criu.pagesLeft(workDir, STEP_TIMEOUT_MS);
    while (left.leftBytes > 0) {
      if (left.isTouchedOnly || !hasRoomFor(left.leftBytes, engine)) {
        await delay(lookIntervalMs, undefined, { signal: ended, ref: false });
        // Asked all the same: one that hangs has processes wait for it.
        left = await engine.criu.pagesLeft(workDir, STEP_TIMEOUT_MS);
        continue;
      }
      await engine.turns.turn(performance.now(), ended);
      if (ended.aborted || engine.turns.isOpen) return;
      left = await engine.background.run("fill", () =>
        engine.criu.fillPages(workDir, STEP_BYTES, STEP_TIMEOUT_MS),
      );
    }
  } catch (error) {
    if (!ended.aborted) await giveUp(live, error, engine);
  }
}

/** Has everything brought as fast as it comes. What becomes of that, the server's end tells. */
export async function fillAll(live: LiveInstance, engine: Engine): Promise<void> {
  const workDir = workDirOf(live.instanceId);
  try {
    const { leftBytes } = await engine.criu.pagesLeft(workDir, STEP_TIMEOUT_MS);
    const timeoutMs = STEP_TIMEOUT_MS + leftBytes / FILL_BYTES_PER_MS_MIN;
    await engine.criu.fillPages(workDir, null, timeoutMs);
  } catch (error) {
    await giveUp(live, error, engine);
  }
}

/**
 * Has an instance that gets only what it touches get all of its memory, step by step as {@link fillWhenIdle}
 * says, and returns how much is still to come. A server that does not answer is not ended for that.
 *
 * @throws SESSION_ENDED         its memory was lost; it is restored again, with all of it.
 * @throws SESSION_UNRESPONSIVE  the server of its memory does not take it.
 */
export async function keepMemory(live: LiveInstance, engine: Engine): Promise<number> {
  if (!engine.filling.has(live.instanceId)) return 0;
  const workDir = workDirOf(live.instanceId);
  try {
    return (await engine.criu.keepPages(workDir, KEEP_TIMEOUT_MS)).leftBytes;
  } catch (error) {
    const state = engine.criu.pagesState(workDir);
    if (state?.kind === "whole") return 0;
    if (state?.kind === "lost") throw memoryLost(state);
    throw new WaypointError(
      "SESSION_UNRESPONSIVE",
      "What brings the session's memory did not answer. It runs on, with what it touches.",
      {
        hint: "Repeat the command. A fork that an older Waypoint has made gets all when it is restored.",
        detail: { reason: String(error) },
      },
    );
  }
}

/** What an operation ends with whose session has lost its memory. */
export function memoryLost({ reason }: PagesState): WaypointError {
  return new WaypointError("SESSION_ENDED", "The session's memory was lost while it was filled.", {
    hint: "The session is being restored again from its checkpoint; try again then.",
    detail: { reason },
  });
}

/** What is brought is not taken from what others need. */
function hasRoomFor(leftBytes: number, engine: Engine): boolean {
  return engine.availableMemoryBytes() - leftBytes >= engine.settings.standby.reserveBytes;
}

/**
 * Ends an instance whose server does not answer, and the server. One that has ended meanwhile is no such
 * case. The processes first: without a server they would go on with zeros.
 */
async function giveUp(
  { instanceId, pid, startTicks }: LiveInstance,
  why: unknown,
  engine: Engine,
): Promise<void> {
  const workDir = workDirOf(instanceId);
  if (engine.criu.pagesState(workDir)?.kind !== "filling") return;
  engine.logger.warn("a pages server takes too long", { instanceId, reason: String(why) });
  await engine.sandbox.killTree(pid, startTicks);
  await engine.criu.endPagesServer(workDir);
}
