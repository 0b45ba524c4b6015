import { type Rollback, settleAll } from "../../base/index.ts";
import type { CheckpointRow, ExtraMounts, SessionRow } from "../../portable/model/index.ts";
import type { Engine } from "../ports/index.ts";
import { type BindChoice, externalMounts, mountFiles } from "./extra-mounts.ts";
import { beginImageCheck, type ImageCheck } from "./image-check.ts";
import { workDirOf } from "./instance-paths.ts";
import { startServing } from "./lazy-memory.ts";
import { beginNetwork } from "./returning-network.ts";

/** How long CRIU may take, whatever the size, and how much memory must come in a millisecond. */
const RESTORE_TIMEOUT_MS = 30_000;
const RESTORE_BYTES_PER_MS_MIN = 16 * 1024;

/** What to build an instance from, and whether all of its memory is to be there at once. */
export type InstanceSource = BindChoice & {
  checkpoint: CheckpointRow;
  eagerMemory?: boolean;
  /** Never has memory brought that it does not touch: it is removed soon. @defaultValue false */
  touchedOnly?: boolean;
  /** Checkpoint whose files to take, where these are not its own. */
  filesFrom?: string;
};

/** What an instance needs to know of the session that it belongs, or will belong, to. */
type InstanceOwner = Pick<
  SessionRow,
  | "id"
  | "base"
  | "net"
  | "netAllow"
  | "memoryLimitBytes"
  | "cpuLimit"
  | "pidsLimit"
  | keyof ExtraMounts
>;

type TreeSource = InstanceSource & { park?: { hookPath: string; groupFile: string } };

/**
 * Restores the processes of a checkpoint: running, or parked. `rollback` removes the instance.
 *
 * None of them takes a step before the images are known to be what was captured.
 *
 * @throws CHECKPOINT_INCOMPLETE | CRIU_RESTORE_FAILED | DEADLINE_EXCEEDED | STORE_FULL
 */
export async function restoreTree(
  session: InstanceOwner,
  instanceId: string,
  from: TreeSource,
  engine: Engine,
  rollback: Rollback,
): Promise<{ pid: number; address: string | null }> {
  const { store } = engine;
  using held = store.images.hold(store.checkpointPaths(from.checkpoint.id));
  const check = beginImageCheck(from.checkpoint, held.imagesDir, engine);
  try {
    const owned = { session, instanceId, imagesDir: held.imagesDir, check };
    return await restoreChecked(owned, from, engine, rollback);
  } catch (error) {
    // What is damaged explains whatever else has failed.
    await check.settle();
    throw error;
  }
}

async function restoreChecked(
  owned: { session: InstanceOwner; instanceId: string; imagesDir: string; check: ImageCheck },
  from: TreeSource,
  engine: Engine,
  rollback: Rollback,
): Promise<{ pid: number; address: string | null }> {
  const { settings } = engine;
  const { session, instanceId, imagesDir, check } = owned;
  const {
    checkpoint,
    park,
    eagerMemory = false,
    touchedOnly = false,
    filesFrom = checkpoint.id,
    ...choice
  } = from;
  using _entering = engine.limits.prepareToEnter(session);
  const [, { network, namespace }, isLazy] = await settleAll([
    createFiles(instanceId, checkpoint.id, filesFrom, engine),
    beginNetwork(session, instanceId, imagesDir, rollback, engine).then(async (begun) => ({
      network: begun,
      namespace: await begun.ready,
    })),
    eagerMemory
      ? Promise.resolve(false)
      : startServing(instanceId, { session, checkpoint, imagesDir, touchedOnly }, engine),
    check.first,
  ]);
  const held = holdUntil([network.settle, await check.compareRest(isLazy)]);
  // Not beside these: it would wait for what makes entering the groups fast, which is done by now.
  const cgroupFiles = await engine.limits.create(instanceId, session);
  const rootDir = mountFiles(session, instanceId, choice, engine);
  const restoring = engine.criu.restore({
    criu: settings.criu,
    netnsPath: namespace?.netnsPath ?? null,
    cgroupFiles,
    rootDir,
    externalMounts: externalMounts(session),
    imagesDir,
    workDir: workDirOf(instanceId),
    isLazy,
    onRetry: ({ detail }) => engine.logger.warn("restoring again", { instanceId, ...detail }),
    failedLogsDir: settings.layout.failedLogsDir,
    ...(held === null ? {} : { beforeResume: { hookPath: settings.resumeHookPath, run: held } }),
    ...(park === undefined ? {} : { park }),
    timeoutMs: RESTORE_TIMEOUT_MS + checkpoint.memoryBytes / RESTORE_BYTES_PER_MS_MIN,
  });
  const [{ pid }, linked] = await settleAll([restoring, network.linked]);
  engine.limits.apply(instanceId, session);
  return { pid, address: linked?.address ?? null };
}

/** No program runs before its network is as it was and its memory is known to be right. */
function holdUntil(work: readonly ((() => Promise<void>) | null)[]): (() => Promise<void>) | null {
  const parts = work.filter((part) => part !== null);
  if (parts.length === 0) return null;
  return async () => {
    await settleAll(parts.map((part) => part()));
  };
}

/** Makes the files of an instance; those of another checkpoint have its processes' own added. */
async function createFiles(
  instanceId: string,
  checkpointId: string,
  filesFrom: string,
  { store }: Engine,
): Promise<void> {
  await store.createInstanceFrom(instanceId, filesFrom);
  if (filesFrom !== checkpointId) await store.takeOwnFiles(instanceId, checkpointId);
}
