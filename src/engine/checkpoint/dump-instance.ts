import type { SessionRow } from "../../portable/model/index.ts";
import { hasCode } from "../../shared/errors/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import { externalMounts, workDirOf } from "../session/index.ts";
import { roundMs } from "./checkpoint-row.ts";

/** Room that CRIU's images take beside the memory pages themselves. */
const IMAGES_OVERHEAD_BYTES = 16 * 1024 * 1024;

/** What a dump needs to know of the session: its row, or that of the checkpoint which it makes. */
type Dumped = Pick<
  SessionRow,
  "net" | "binds" | "hostMounts" | "memoryLimitBytes" | "cpuLimit" | "pidsLimit"
>;

/**
 * Dumps an instance's processes and snapshots its files, as parts of a checkpoint.
 *
 * The images go to memory, or to the store where memory has no room.
 *
 * **Requires** the daemon has no connection into it.
 *
 * @param frozenIn  its control group, if it stands frozen in it and is to stay so.
 * @throws CRIU_DUMP_FAILED | STORE_FULL | STORE_FAILED
 */
export async function dumpInstance(
  session: Dumped,
  live: Pick<LiveInstance, "instanceId" | "pid">,
  id: string,
  engine: Engine,
  frozenIn?: string,
): Promise<{ pauseMs: number; memoryBytes: number }> {
  const { store, sandbox, criu } = engine;
  const expectedBytes = sandbox.treeMemoryBytes(live.pid) + IMAGES_OVERHEAD_BYTES;
  await engine.memoryImages.makeRoom(expectedBytes);
  const imagesDir = await store.prepareCheckpoint(id, expectedBytes);
  const paths = store.checkpointPaths(id);
  const frozen = frozenIn === undefined ? {} : { frozenIn };
  const dumpInto = (directory: string) =>
    criu.dump({
      ...dumpOptions(session, live, { id, imagesDir: directory }, engine),
      ...frozen,
      memoryBytes: expectedBytes,
    });
  // While CRIU starts, so that nothing waits for it.
  const isIntoMemory = imagesDir === paths.memoryImagesDir;
  engine.warmMemory.makeWay(isIntoMemory ? expectedBytes - IMAGES_OVERHEAD_BYTES : 0);
  try {
    using _lifted = engine.limits.liftCpu(live.instanceId, session);
    const { pauseMs, memoryBytes } = await dumpInto(imagesDir).catch(async (error: unknown) => {
      if (!isIntoMemory || !hasCode(error, "STORE_FULL")) throw error;
      engine.logger.info("memory is full: images go to the store", { id });
      store.deleteSnapshot(id);
      return await dumpInto(await store.images.prepareInStore(paths));
    });
    return { pauseMs: roundMs(pauseMs), memoryBytes };
  } finally {
    engine.warmMemory.fill();
    store.images.settle(paths);
  }
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
