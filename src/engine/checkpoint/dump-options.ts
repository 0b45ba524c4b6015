import type { SessionRow } from "../../portable/model/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import { externalMounts, workDirOf } from "../session/index.ts";

/** Room that CRIU's images take beside the memory pages themselves. */
export const IMAGES_OVERHEAD_BYTES = 16 * 1024 * 1024;

/** What a dump needs to know of the session: its row, or that of the checkpoint which it makes. */
export type Dumped = Pick<
  SessionRow,
  "net" | "binds" | "hostMounts" | "memoryLimitBytes" | "cpuLimit" | "pidsLimit"
>;

/** Returns what CRIU has to know of an instance in each of its dumps. */
export function dumpOptions(
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
