import type { FollowedDump, TrackedReference } from "../../linux/criu/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import { workDirOf } from "../session/index.ts";

const SOCKET_NAME = "memory.sock";

/** Names the copy of memory that is made before a checkpoint. */
export function aheadIdOf(checkpointId: string): string {
  return `${checkpointId}-ahead`;
}

/**
 * Returns how to follow the writes of an instance in its next dump; `undefined` for not at all.
 *
 * Whatever is wrong with it costs a full copy, and is no reason for a checkpoint to fail.
 */
export async function planTracked(
  { instanceId, pid }: Pick<LiveInstance, "instanceId" | "pid">,
  checkpointId: string,
  treeMemoryBytes: number,
  engine: Engine,
): Promise<FollowedDump | undefined> {
  const { trackMemory } = engine.settings;
  if (trackMemory === null || treeMemoryBytes < trackMemory.bytesMin) return undefined;
  const socketPath = `${workDirOf(instanceId)}/${SOCKET_NAME}`;
  const { trackerProgramPath: programPath, assembleProgramPath, bytesMin, compares } = trackMemory;
  try {
    const since = await engine.criu.trackedSince({ programPath, socketPath, pid });
    return {
      ...{ socketPath, checkpointId, bytesMin, assembleProgramPath, compares },
      reference: since === null ? null : findCompared(since, checkpointId, engine),
    };
  } catch (error) {
    engine.logger.warn("writes are not followed", { instanceId, reason: String(error) });
    return undefined;
  }
}

/**
 * Returns the images of a checkpoint, to take from them what a new one has in common with it: what lies in the
 * store, perhaps for long, is what was captured, or nothing relies on it. `null` where they are gone.
 */
export function findCompared(
  since: string,
  checkpointId: string,
  engine: Engine,
): TrackedReference | null {
  const { catalog, store } = engine;
  const reference = findReference(since, checkpointId, engine);
  const digest = catalog.checkpoint(since)?.imagesSums ?? null;
  if (reference === null || reference.makeTarget === null || digest === null) return reference;
  const requireSound = () => store.images.requireSound(store.checkpointPaths(since), digest);
  return { ...reference, requireSound };
}

/** Images that were removed, or lost with the machine's memory, are nobody's reference. */
function findReference(
  since: string,
  checkpointId: string,
  engine: Engine,
): TrackedReference | null {
  const { catalog, store } = engine;
  if (since === aheadIdOf(checkpointId)) {
    const imagesDir = store.images.ahead.find(store.checkpointPaths(checkpointId));
    return imagesDir === null ? null : ({ imagesDir, makeTarget: null } satisfies TrackedReference);
  }
  const row = catalog.checkpoint(since);
  if (row === undefined || row.content !== "full" || row.heldBy !== null) return null;
  const paths = store.checkpointPaths(since);
  const made = store.checkpointPaths(checkpointId);
  if (store.images.isInStore(paths)) {
    // Blocks can be shared there, and nowhere else.
    const makeTarget = () => store.images.makeInStore(made, paths);
    const { changedPath } = made;
    return { imagesDir: paths.imagesDir, makeTarget, changedPath } satisfies TrackedReference;
  }
  const imagesDir = store.images.locate(paths);
  const hold = () => store.images.hold(paths, { isUse: false });
  return { imagesDir, makeTarget: null, hold } satisfies TrackedReference;
}
