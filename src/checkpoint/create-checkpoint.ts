import { Rollback } from "../base/index.ts";
import type { CheckpointRow, SessionRow } from "../catalog/index.ts";
import type { CheckpointTrigger } from "../protocol/index.ts";
import { type EnginePorts, type LiveInstance, workDirOf } from "../session/index.ts";
import { scheduleDurable } from "./make-durable.ts";
import { toManifest } from "./manifest.ts";

/** Room that CRIU's images take beside the memory pages themselves. */
const IMAGES_OVERHEAD_BYTES = 16 * 1024 * 1024;

/** What a checkpoint is taken for. */
export interface CheckpointOptions {
  trigger: CheckpointTrigger;
  intent: string | null;
  name: string | null;
  filesOnly: boolean;
  /** Whether the session stands on it from now on; not for what a restore is about to leave. */
  movesHead: boolean;
}

/**
 * Captures a session as an immutable checkpoint, without ending or disturbing what runs in it.
 *
 * **Requires** the caller holds the session's lease.
 * **On success** the checkpoint is recorded as `captured` and becomes `durable` in the background.
 * **On failure** nothing is recorded or left behind, and the session runs as before.
 *
 * @throws CRIU_DUMP_FAILED  CRIU refused a process; `detail` names it and the resource.
 * @throws STORE_FULL        the store has no room.
 */
export async function createCheckpoint(
  session: SessionRow,
  options: CheckpointOptions,
  ports: EnginePorts,
): Promise<CheckpointRow> {
  const startedAtMs = performance.now();
  const id = ports.newId();
  const live = options.filesOnly ? undefined : ports.live.get(session.id);
  await using rollback = new Rollback();
  rollback.defer("remove the unfinished checkpoint", () => ports.store.deleteCheckpoint(id));

  await ports.store.flushIfDirty();
  const captured =
    live === undefined
      ? await captureFiles(session, id, ports)
      : await captureAll(session, live, id, ports);
  const row: CheckpointRow = {
    id,
    session: session.id,
    sessionName: session.name,
    parent: session.head,
    name: options.name,
    intent: options.intent,
    trigger: options.trigger,
    content: live === undefined ? "files" : "full",
    createdAt: new Date().toISOString(),
    ...captured,
    totalMs: roundMs(performance.now() - startedAtMs),
    stage: "captured",
    base: session.base,
    net: session.net,
    user: session.user,
    cwd: session.cwd,
    terminal: live?.terminalId ?? null,
    kernel: ports.settings.kernel,
    criu: ports.settings.criuVersion,
    arch: ports.settings.arch,
  };
  await ports.store.writeManifest(id, toManifest(row));
  ports.catalog.transaction(() => {
    ports.catalog.insertCheckpoint(row);
    if (options.movesHead) ports.catalog.updateSession(session.id, { head: id });
  });

  rollback.keep();
  scheduleDurable(id, ports);
  return row;
}

async function captureFiles(session: SessionRow, id: string, ports: EnginePorts) {
  await ports.store.prepareCheckpoint(id, 0);
  const startedAtMs = performance.now();
  ports.store.snapshotInstance(session.instance ?? "", id);
  return { pauseMs: 0, memoryBytes: 0, totalMs: roundMs(performance.now() - startedAtMs) };
}

async function captureAll(session: SessionRow, live: LiveInstance, id: string, ports: EnginePorts) {
  const { store, settings, sandbox } = ports;
  const expectedBytes = sandbox.treeMemoryBytes(live.pid) + IMAGES_OVERHEAD_BYTES;
  const imagesDir = await store.prepareCheckpoint(id, expectedBytes);
  const workDir = workDirOf(live.instanceId);

  // CRIU cannot dump one end of a connection, so the daemon lets go of the session's init first.
  await live.link.quiesce();
  try {
    const { pauseMs, memoryBytes } = await ports.criu.dump({
      criu: settings.criu,
      netnsPath: session.net === "host" ? null : ports.network.netnsPath(live.instanceId),
      pid: live.pid,
      rootDir: sandbox.mergedDir(live.instanceId),
      imagesDir,
      workDir,
      failedLogsDir: settings.layout.failedLogsDir,
      snapshotHookPath: settings.snapshotHookPath,
      snapshotSource: store.instancePaths(live.instanceId).subvolumePath,
      snapshotTarget: store.checkpointPaths(id).snapshotPath,
    });
    return { pauseMs: roundMs(pauseMs), memoryBytes };
  } finally {
    await live.link.resume();
  }
}

function roundMs(durationMs: number): number {
  return Math.round(durationMs * 100) / 100;
}
