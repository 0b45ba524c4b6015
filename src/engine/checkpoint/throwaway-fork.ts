import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import {
  chargeInstance,
  endIfLost,
  hasLostMemory,
  isServed,
  removeInstance,
} from "../session/index.ts";
import { buildFrom } from "./build-from.ts";
import { refuseSharedPorts, sessionFrom } from "./fork-checkpoint.ts";
import { requireCaptured } from "./held-checkpoints.ts";

/** A fork that no session refers to. Disposing of it ends everything that runs in it. */
export interface ThrowawayFork extends AsyncDisposable {
  live: LiveInstance;
  /** What a session made of it would be; it is in no catalog, and its name is its origin's. */
  session: SessionRow;
  /** It gets its memory as it touches it, and never any other. */
  isLazy: boolean;
  /** Tells, once its first process has ended, whether that was for memory that did not come. */
  hasLostMemory: () => Promise<boolean>;
  /** Resolves when nothing of it is left, some time after its end; never rejects. */
  cleared: Promise<void>;
}

/**
 * Starts a fork that nobody sees, to try something in and throw away.
 *
 * It takes no standby, which the session may need at any moment, and what it writes to the binds of
 * its session stays in it. A daemon that finds one left behind removes it, since no session refers
 * to it.
 *
 * **Requires** the checkpoint is not removed before it has started.
 * **On failure** nothing of it is left.
 *
 * @param options.eagerMemory  whether all of its memory is there from the start.
 * @throws FORK_REFUSED | CRIU_DUMP_FAILED | CRIU_RESTORE_FAILED | SANDBOX_FAILED | STORE_FULL
 * | BIND_SOURCE_MISSING | CHECKPOINT_INCOMPLETE
 */
export async function openThrowawayFork(
  wanted: CheckpointRow,
  { eagerMemory }: { eagerMemory: boolean },
  engine: Engine,
): Promise<ThrowawayFork> {
  refuseSharedPorts(wanted);
  const checkpoint = await requireCaptured(wanted, engine);
  await engine.store.space.requireRoom("fork a checkpoint");
  const instanceId = `${engine.newId()}-1`;
  const session = sessionFrom(checkpoint, { name: checkpoint.sessionName, instanceId }, engine);
  const from = { checkpoint, withoutBinds: false, copyBinds: true, eagerMemory, touchedOnly: true };
  const live = await buildFrom(from, session, instanceId, engine);
  chargeInstance(live, engine, session.diskLimitBytes);
  const cleared = Promise.withResolvers<void>();
  const isLazy = isServed(instanceId, engine);
  let isDisposed = false;
  if (isLazy) {
    void endIfLost(live, () => !isDisposed, engine).catch((error: unknown) =>
      engine.logger.error("follow the memory of a fork", error, { instanceId }),
    );
  }
  return {
    live,
    session,
    isLazy,
    hasLostMemory: () => hasLostMemory(instanceId, engine),
    cleared: cleared.promise,
    [Symbol.asyncDispose]: async () => {
      isDisposed = true;
      live.link.end(new WaypointError("SESSION_ENDED", "The fork was thrown away."));
      const ended = Promise.withResolvers<void>();
      // The rest waits in the kernel most of the time, and nobody needs to wait with it.
      cleared.resolve(remove(instanceId, ended.resolve, engine));
      await ended.promise;
    },
  };
}

/** Removes a fork; tells when its processes have ended, or do not. */
async function remove(instanceId: string, onEnded: () => void, engine: Engine): Promise<void> {
  try {
    await removeInstance(instanceId, engine, onEnded);
    engine.store.shares.sweepSoon();
  } catch (error) {
    // What came of the fork is no less true; the next daemon removes what is left of it.
    engine.logger.error("remove a throw-away fork", error, { instanceId });
  } finally {
    onEnded();
  }
}
