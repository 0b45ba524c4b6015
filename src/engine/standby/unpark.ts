import { withDeadline } from "../../base/index.ts";
import type { CheckpointRow } from "../../portable/model/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine, ParkedInstance } from "../ports/index.ts";
import { removeInstance } from "../session/index.ts";

const ANSWER_TIMEOUT_MS = 10_000;

/** An instance that is not a session's yet. */
type Unowned = Omit<LiveInstance, "sessionId">;

/**
 * Lets a standby of a checkpoint run, and returns it when its PID 1 has answered.
 *
 * @param origins  which kinds of standby will do.
 * @returns `null` where there is none, or it did not come to life; nothing is left of it then, or
 * where it cannot be removed, what the next daemon removes.
 */
export async function unparkFor(
  checkpoint: CheckpointRow,
  origins: readonly ParkedInstance["origin"][],
  engine: Engine,
): Promise<Unowned | null> {
  const parked = engine.standbys.take(checkpoint.id, origins);
  if (parked === null) return null;
  const unparked = await unpark(parked, engine);
  if (unparked === null) await end(parked.instanceId, engine);
  return unparked;
}

/** Lets a frozen instance run. @returns `null` when its PID 1 does not answer. */
export async function unpark(
  parked: Omit<Unowned, "link"> & Pick<ParkedInstance, "link">,
  { freezer, logger }: Engine,
): Promise<Unowned | null> {
  const { instanceId, pid, startTicks, terminalId } = parked;
  try {
    freezer?.thaw(instanceId);
    const link = await withDeadline("a standby to answer", ANSWER_TIMEOUT_MS, parked.link);
    return { instanceId, pid, startTicks, terminalId, link };
  } catch (error) {
    logger.error("a standby did not answer", error, { instanceId });
    return null;
  }
}

/** Whoever asked for a standby goes on without one. */
async function end(instanceId: string, engine: Engine): Promise<void> {
  try {
    await removeInstance(instanceId, engine);
  } catch (error) {
    engine.logger.error("end a standby", error, { instanceId });
  }
}
