import { Rollback } from "../../base/index.ts";
import type { InitLink } from "../../linux/terminal/index.ts";
import type { SessionRow } from "../../portable/model/index.ts";
import { toWaypointError } from "../../shared/errors/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import { callInit } from "./call-init.ts";
import { type BindChoice, mountFiles } from "./extra-mounts.ts";
import { fillLayers } from "./fill-layers.ts";
import { workDirOf } from "./instance-paths.ts";
import { killInstance } from "./kill-instance.ts";
import { releaseWithRetry } from "./release-with-retry.ts";
import { type InstanceSource, restoreTree } from "./restore-tree.ts";
import { noteHits } from "./session-limits.ts";
import { openShell, type ShellOptions } from "./shell.ts";
import { startWithinLimits } from "./start-within-limits.ts";
import { withSoundImages } from "./with-sound-images.ts";

/**
 * Builds a fresh instance of a session: files, network, PID 1 and a shell.
 *
 * @param shell  `filesFrom` is a checkpoint whose files to take; `null` for a new, empty upper.
 *
 * **On success** its shell runs and its row holds its process id; nothing refers to it yet.
 * **On failure** nothing of it is left.
 *
 * @throws SANDBOX_FAILED | STORE_FULL | USAGE_INVALID | BIND_SOURCE_MISSING | HOST_UNSUPPORTED
 */
export async function buildFreshInstance(
  session: SessionRow,
  instanceId: string,
  shell: ShellOptions & BindChoice & { filesFrom: string | null },
  engine: Engine,
): Promise<LiveInstance> {
  const { store, sandbox, settings } = engine;
  await using rollback = new Rollback();
  beginInstance(session.id, instanceId, engine, rollback);
  using _entering = engine.limits.prepareToEnter(session);

  if (shell.filesFrom === null) await prepareFiles(session, instanceId, engine);
  else await store.createInstanceFrom(instanceId, shell.filesFrom);
  const network =
    session.net === "host"
      ? null
      : await engine.network.create(instanceId, session.net, session.netAllow);
  const cgroupFiles = await engine.limits.create(instanceId, session);
  engine.limits.apply(instanceId, session);
  const rootDir = mountFiles(session, instanceId, shell, engine);
  const started = await startWithinLimits(session, instanceId, engine, async () => {
    // With a small share of a processor init would be taken to hang; the shell is under the limit.
    using _lifted = engine.limits.liftCpu(instanceId, session);
    const pid = await sandbox.launchInit({
      initBinaryPath: settings.initBinaryPath,
      mergedDir: rootDir,
      netnsPath: network?.netnsPath ?? null,
      cgroupFiles,
      hostname: session.name,
    });
    const live = await connect(session.id, instanceId, pid, network?.address ?? null, engine);
    return { ...live, terminalId: await openShell(live.link, session, shell, engine) };
  });

  rollback.keep();
  return started;
}

/**
 * Builds an instance of a session from a checkpoint with processes.
 *
 * **On success** all processes of the checkpoint run and PID 1 has answered. Memory of a large one
 * may still be on its way, unless it was wanted at once.
 * **On failure** nothing of it is left.
 *
 * @throws CRIU_RESTORE_FAILED | SANDBOX_FAILED | STORE_FULL | CHECKPOINT_INCOMPLETE
 * | BIND_SOURCE_MISSING | DEADLINE_EXCEEDED
 */
export async function buildInstanceFrom(
  session: SessionRow,
  instanceId: string,
  from: InstanceSource,
  engine: Engine,
): Promise<LiveInstance> {
  const build = () => buildWhole(session, instanceId, from, engine);
  return await withSoundImages(from.checkpoint, build, engine);
}

async function buildWhole(
  session: SessionRow,
  instanceId: string,
  from: InstanceSource,
  engine: Engine,
): Promise<LiveInstance> {
  const memory = { isLost: false };
  try {
    return await buildOnce(session, instanceId, { ...from, memory }, engine);
  } catch (error) {
    if (!memory.isLost) throw error;
    engine.logger.error("the pages server died during a restore", error, { instanceId });
    return await buildOnce(session, instanceId, { ...from, memory, eagerMemory: true }, engine);
  }
}

async function buildOnce(
  session: SessionRow,
  instanceId: string,
  { memory, ...from }: InstanceSource & { memory: { isLost: boolean } },
  engine: Engine,
): Promise<LiveInstance> {
  await using rollback = new Rollback();
  beginInstance(session.id, instanceId, engine, rollback);
  rollback.defer("see what became of the memory", () => {
    memory.isLost = engine.criu.pagesState(workDirOf(instanceId))?.kind === "lost";
  });

  const { pid, address } = await restoreTree(session, instanceId, from, engine, rollback);
  const live = await connectUnhurried(session, instanceId, pid, address, engine);

  rollback.keep();
  return { ...live, terminalId: from.checkpoint.terminal ?? 1 };
}

/**
 * Removes everything of an instance: processes, mount, network, files, row.
 *
 * Idempotent; finds its processes by their root filesystem when no row tells them.
 *
 * @param onEnded  is told when its processes have ended.
 */
export async function removeInstance(
  instanceId: string,
  engine: Engine,
  onEnded: () => void = () => {},
): Promise<void> {
  await releaseWithRetry(instanceId, engine, async () => {
    await killInstance(instanceId, engine);
    onEnded();
    await clearNow(instanceId, engine);
  });
}

/** Removes what an instance whose processes have ended has left: mount, network, files, row. */
export async function clearInstance(instanceId: string, engine: Engine): Promise<void> {
  await releaseWithRetry(instanceId, engine, () => clearNow(instanceId, engine));
}

async function clearNow(instanceId: string, engine: Engine): Promise<void> {
  await releaseInstance(instanceId, engine);
  await engine.store.deleteInstance(instanceId);
  engine.criu.removeWorkDir(workDirOf(instanceId));
  engine.catalog.deleteInstance(instanceId);
}

/** Ends an instance's processes and gives back its mount and network; its files stay. */
export async function endInstance(instanceId: string, engine: Engine): Promise<void> {
  await releaseWithRetry(instanceId, engine, async () => {
    await killInstance(instanceId, engine);
    noteHits(instanceId, engine);
    await releaseInstance(instanceId, engine);
  });
}

async function releaseInstance(instanceId: string, engine: Engine): Promise<void> {
  await engine.sandbox.unmountRoot(instanceId);
  engine.forwards.closeAllIn(engine.network.netnsPath(instanceId));
  await engine.contacts.settle(instanceId, null);
  await engine.network.remove(instanceId);
  engine.contacts.forgetInstance(instanceId);
  // Where both are of version 2, the one is a child of the other.
  await engine.freezer?.remove(instanceId);
  await engine.limits.remove(instanceId);
}

/** Connects to the PID 1 of an instance that runs already (after a daemon's death). */
export async function reconnectInstance(
  sessionId: string,
  instance: { id: string; pid: number; startTicks: number },
  engine: Engine,
): Promise<LiveInstance> {
  const { pid, startTicks } = instance;
  const link = await callInit(pid, engine);
  const terminalId = await firstTerminal(link);
  return { sessionId, instanceId: instance.id, pid, startTicks, link, terminalId };
}

async function prepareFiles(
  session: SessionRow,
  instanceId: string,
  engine: Engine,
): Promise<void> {
  const paths = await engine.store.createInstance(instanceId, session.hostMounts.length);
  const mountPaths = (number: number) => engine.store.mountPaths(instanceId, number);
  fillLayers(session, { upperDir: paths.upperDir, mountPaths }, engine);
}

/** Notes that an instance is being made. Whatever is made of it goes when `rollback` does. */
export function beginInstance(
  sessionId: string,
  instanceId: string,
  engine: Engine,
  rollback: Rollback,
): void {
  // The row comes first: whatever is made after it can be found and removed by the next daemon.
  engine.catalog.insertInstance({ id: instanceId, session: sessionId });
  rollback.defer("remove the unfinished instance", () => removeInstance(instanceId, engine));
  engine.criu.makeWorkDir(workDirOf(instanceId));
}

/** Connects to a restored init, which with a small share of a processor would be taken to hang. */
async function connectUnhurried(
  session: SessionRow,
  instanceId: string,
  pid: number,
  address: string | null,
  engine: Engine,
): Promise<Omit<LiveInstance, "terminalId">> {
  using _lifted = engine.limits.liftCpu(instanceId, session);
  return await connect(session.id, instanceId, pid, address, engine);
}

async function connect(
  sessionId: string,
  instanceId: string,
  pid: number,
  address: string | null,
  engine: Engine,
): Promise<Omit<LiveInstance, "terminalId">> {
  const startTicks = engine.sandbox.startTicks(pid) ?? 0;
  engine.catalog.updateInstance(instanceId, { pid, startTicks, address });
  const link = await callInit(pid, engine);
  return { sessionId, instanceId, pid, startTicks, link };
}

async function firstTerminal(link: InitLink): Promise<number> {
  try {
    const { terminals } = await link.list();
    return terminals[0]?.id ?? 1;
  } catch (error) {
    // Whoever calls again would be one connection more.
    link.end(toWaypointError(error));
    throw error;
  }
}
