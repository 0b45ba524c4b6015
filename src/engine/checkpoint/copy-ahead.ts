import type { SessionRow } from "../../portable/model/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import { dumpOptions, IMAGES_OVERHEAD_BYTES } from "./dump-options.ts";
import { aheadIdOf, planTracked } from "./tracked-dump.ts";

/**
 * Copies the memory of a large session that has no reference yet while its programs run on, so that the
 * checkpoint's pause copies what they wrote meanwhile. It takes a short pause of its own, to protect it.
 *
 * Whatever is wrong with it costs a full copy in the pause, and is no reason for a checkpoint to fail.
 *
 * @returns the copy, removed when it is disposed of, and how long that pause was.
 */
export async function copyAhead(
  session: SessionRow,
  live: LiveInstance,
  id: string,
  engine: Engine,
): Promise<AsyncDisposable & { pauseMs: number }> {
  const { trackMemory } = engine.settings;
  const nothing = { pauseMs: 0, [Symbol.asyncDispose]: async () => {} };
  if (trackMemory === null) return nothing;
  const memoryBytes = engine.sandbox.treeMemoryBytes(live.pid);
  if (memoryBytes < trackMemory.aheadBytesMin) return nothing;
  const planned = await planTracked(live, id, memoryBytes, engine);
  if (planned === undefined || planned.reference !== null) return nothing;

  const { images } = engine.store;
  // The copy, and the images that it goes into.
  const expectedBytes = 2 * (memoryBytes + IMAGES_OVERHEAD_BYTES);
  const paths = engine.store.checkpointPaths(id);
  const remove = () => images.ahead.remove(paths);
  const failed = (error: unknown) =>
    engine.logger.warn("a copy before the pause is left behind", { id, reason: String(error) });
  const copied = { pauseMs: 0, [Symbol.asyncDispose]: () => remove().catch(failed) };
  try {
    await engine.memoryImages.makeRoom(expectedBytes);
    if (!images.hasRoomFor(expectedBytes)) return nothing;
    const { copyDir, scratchDir } = await images.ahead.prepare(paths);
    const options = {
      ...dumpOptions(session, live, { id, imagesDir: scratchDir }, engine),
      tracked: { ...planned, checkpointId: aheadIdOf(id) },
      memoryBytes,
    };
    const { pauseMs } = await withoutConnections(live, async () => {
      using _lifted = engine.limits.liftCpu(live.instanceId, session);
      return await engine.criu.protectAhead(options);
    });
    copied.pauseMs = pauseMs;
    const { copiedBytes } = await engine.criu.copyAhead(options, copyDir);
    engine.logger.info("memory copied before the pause", { id, copiedBytes, pauseMs });
  } catch (error) {
    engine.logger.warn("memory is not copied before the pause", { id, reason: String(error) });
    // Half a copy must not become a reference: one that cannot be removed fails the checkpoint.
    await remove();
  }
  return copied;
}

/** CRIU cannot dump one end of a connection, so the daemon lets go of the session's init meanwhile. */
async function withoutConnections<Result>(
  { link }: Pick<LiveInstance, "link">,
  act: () => Promise<Result>,
): Promise<Result> {
  await link.quiesce();
  try {
    return await act();
  } finally {
    await link.resume();
  }
}
