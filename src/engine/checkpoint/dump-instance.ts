import type { TrackedDump } from "../../linux/criu/index.ts";
import type { SessionRow } from "../../portable/model/index.ts";
import { hasCode } from "../../shared/errors/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import { externalMounts, workDirOf } from "../session/index.ts";
import { roundMs } from "./checkpoint-row.ts";
import { planTracked } from "./tracked-dump.ts";
import type { UnfilledDump } from "./unfilled-dump.ts";

const PAGE_BYTES = 4096;
/** Room that CRIU's images take beside the memory pages themselves. */
const IMAGES_OVERHEAD_BYTES = 16 * 1024 * 1024;

/** What a dump needs to know of the session: its row, or that of the checkpoint which it makes. */
type Dumped = Pick<
  SessionRow,
  "net" | "binds" | "hostMounts" | "memoryLimitBytes" | "cpuLimit" | "pidsLimit"
>;

interface DumpChoice {
  frozenIn?: string | undefined;
  unfilled?: UnfilledDump | null;
}

/**
 * Dumps an instance's processes and snapshots its files, as parts of a checkpoint.
 *
 * The images go to memory, or to the store where memory has no room.
 *
 * **Requires** the daemon has no connection into it.
 *
 * @param how.frozenIn  its control group, if it stands frozen in it and is to stay so.
 * @param how.unfilled  what it has not got of its memory yet. @defaultValue it has all
 * @throws CRIU_DUMP_FAILED | STORE_FULL | STORE_FAILED
 */
export async function dumpInstance(
  session: Dumped,
  live: Pick<LiveInstance, "instanceId" | "pid">,
  id: string,
  engine: Engine,
  { frozenIn, unfilled = null }: DumpChoice = {},
): Promise<{ pauseMs: number; memoryBytes: number }> {
  const { store, sandbox, criu } = engine;
  const copiedBytes = unfilled?.copiedBytes ?? 0;
  const expectedBytes = sandbox.treeMemoryBytes(live.pid) + copiedBytes + IMAGES_OVERHEAD_BYTES;
  await engine.memoryImages.makeRoom(expectedBytes);
  const imagesDir = await store.prepareCheckpoint(id, expectedBytes);
  const paths = store.checkpointPaths(id);
  const frozen = frozenIn === undefined ? {} : { frozenIn };
  const isIntoMemory = imagesDir === paths.memoryImagesDir;
  const memoryBytes = expectedBytes - IMAGES_OVERHEAD_BYTES;
  // A tree that stands already is on its way out.
  const isTracked = isIntoMemory && frozenIn === undefined;
  // A process has one follower of its memory, and this one has its pages server.
  const planned =
    unfilled === null && isTracked ? await planTracked(live, id, memoryBytes, engine) : undefined;
  const tracked = unfilled === null ? planned : inPlaceUnless(isIntoMemory, unfilled.dump);
  const dumpAll = async (directory: string) => {
    await unfilled?.fill();
    const isFollowed = tracked !== undefined && unfilled === null;
    return await dumpInto(directory, isFollowed ? { ...tracked, reference: null } : undefined);
  };
  const dumpInto = (directory: string, followed?: TrackedDump) =>
    criu.dump({
      ...dumpOptions(session, live, { id, imagesDir: directory }, engine),
      ...frozen,
      ...(followed === undefined ? {} : { tracked: followed }),
      memoryBytes: expectedBytes,
    });
  // While CRIU starts, so that nothing waits for it.
  engine.warmMemory.makeWay(isIntoMemory ? memoryBytes : 0);
  try {
    using _lifted = engine.limits.liftCpu(live.instanceId, session);
    const dumped = await dumpInto(imagesDir, tracked)
      .catch(async (error: unknown) => {
        if (!criu.isIncomplete(error)) throw error;
        engine.logger.warn("all memory is copied after all", { id, reason: String(error) });
        store.deleteSnapshot(id);
        return await dumpAll(await store.images.beginAgain(paths));
      })
      .catch(async (error: unknown) => {
        if (!isIntoMemory || !hasCode(error, "STORE_FULL")) throw error;
        engine.logger.info("memory is full: images go to the store", { id });
        store.deleteSnapshot(id);
        return await dumpAll(await store.images.prepareInStore(paths));
      });
    if (tracked !== undefined) {
      if (tracked.socketPath !== null) await criu.noteWhole(tracked.socketPath, id);
      const copiedBytes = dumped.pagesWritten * PAGE_BYTES;
      engine.logger.info("memory copied in the pause", { id, copiedBytes, of: dumped.memoryBytes });
    }
    return { pauseMs: roundMs(dumped.pauseMs), memoryBytes: dumped.memoryBytes };
  } finally {
    engine.warmMemory.fill();
    store.images.settle(paths);
  }
}

/** Where CRIU writes to the store, the images are put together there. */
function inPlaceUnless(isIntoMemory: boolean, { reference, ...dump }: TrackedDump): TrackedDump {
  const inPlace =
    isIntoMemory || reference === null ? reference : { ...reference, makeTarget: null };
  return { ...dump, reference: inPlace };
}

function dumpOptions(
  session: Dumped,
  { instanceId, pid }: Pick<LiveInstance, "instanceId" | "pid">,
  { id, imagesDir }: { id: string; imagesDir: string },
  { store, settings, network, sandbox }: Engine,
) {
  const { snapshotPath } = store.checkpointPaths(id);
  const mountPoints = [...session.hostMounts, ...session.binds.map(({ target }) => target)];
  return {
    criu: settings.criu,
    netnsPath: session.net === "host" ? null : network.netnsPath(instanceId),
    pid,
    rootDir: sandbox.mergedDir(instanceId),
    externalMounts: externalMounts(session),
    imagesDir,
    workDir: workDirOf(instanceId),
    failedLogsDir: settings.layout.failedLogsDir,
    snapshotHookPath: settings.snapshotHookPath,
    snapshotSource: store.instancePaths(instanceId).subvolumePath,
    snapshotTarget: snapshotPath,
    namesOf: (inode: number) => store.snapshots.socketNames(snapshotPath, inode, mountPoints),
  };
}
