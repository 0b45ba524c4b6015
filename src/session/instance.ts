import { mkdirSync, rmSync } from "node:fs";
import { Rollback, settleAll } from "../base/index.ts";
import type { CheckpointRow, SessionRow } from "../catalog/index.ts";
import type { InitLink } from "../terminal/index.ts";
import type { LiveInstance } from "./live-sessions.ts";
import type { EnginePorts } from "./ports.ts";
import { openShell, type ShellOptions } from "./shell.ts";

const INIT_ANSWER_TIMEOUT_MS = 10_000;

/** The path is short whatever the state directory, since a socket's has at most 107 bytes. */
function connectInit(pid: number, ports: EnginePorts): Promise<InitLink> {
  return ports.connectInit(`/proc/${pid}/root/run/waypoint/init.sock`, {
    timeoutMs: INIT_ANSWER_TIMEOUT_MS,
    initPid: pid,
  });
}

/**
 * Builds a fresh incarnation of a session: files, network, PID 1 and a shell.
 *
 * @param shell  `filesFrom` is a checkpoint whose files to take; `null` for a new, empty upper.
 *
 * **On success** its shell runs and its row holds its process id; nothing refers to it yet.
 * **On failure** nothing of it is left.
 *
 * @throws SANDBOX_FAILED | STORE_FULL | USAGE_INVALID
 */
export async function buildFreshInstance(
  session: SessionRow,
  instanceId: string,
  shell: ShellOptions & { filesFrom: string | null },
  ports: EnginePorts,
): Promise<LiveInstance> {
  const { store, sandbox, settings } = ports;
  await using rollback = new Rollback();
  beginInstance(session.id, instanceId, ports, rollback);

  const paths =
    shell.filesFrom === null
      ? await prepareFiles(session, instanceId, ports)
      : await store.createInstanceFrom(instanceId, shell.filesFrom);
  const network =
    session.net === "host" ? null : await ports.network.create(instanceId, session.net);
  const rootDir = sandbox.mountRoot({ instanceId, baseDir: session.base, ...paths });
  const pid = await sandbox.launchInit({
    initBinaryPath: settings.initBinaryPath,
    mergedDir: rootDir,
    netnsPath: network?.netnsPath ?? null,
    hostname: session.name,
  });
  const live = await connect(session.id, instanceId, pid, network?.address ?? null, ports);
  const terminalId = await openShell(live.link, session, shell, ports);

  rollback.keep();
  return { ...live, terminalId };
}

/**
 * Builds an incarnation of a session from a checkpoint with processes.
 *
 * **On success** all processes of the checkpoint run and PID 1 has answered.
 * **On failure** nothing of it is left.
 *
 * @throws CRIU_RESTORE_FAILED | SANDBOX_FAILED | STORE_FULL | CHECKPOINT_INCOMPLETE
 */
export async function buildInstanceFrom(
  session: Pick<SessionRow, "id" | "base" | "net">,
  instanceId: string,
  checkpoint: CheckpointRow,
  ports: EnginePorts,
): Promise<LiveInstance> {
  const { store, sandbox, settings } = ports;
  const imagesDir = store.images.locate(store.checkpointPaths(checkpoint.id));
  await using rollback = new Rollback();
  beginInstance(session.id, instanceId, ports, rollback);

  const outside =
    session.net === "host"
      ? null
      : ports.network.findOutside(await ports.criu.readImageSockets(imagesDir));
  const [paths, namespace] = await settleAll([
    store.createInstanceFrom(instanceId, checkpoint.id),
    session.net === "host" ? noNetwork() : ports.network.createNamespace(instanceId, outside),
  ]);
  const rootDir = sandbox.mountRoot({ instanceId, baseDir: session.base, ...paths });
  const restored = ports.criu.restore({
    criu: settings.criu,
    netnsPath: namespace?.netnsPath ?? null,
    rootDir,
    imagesDir,
    workDir: workDirOf(instanceId),
    failedLogsDir: settings.layout.failedLogsDir,
  });
  const held = outside === null ? null : { outside, until: restored };
  // CRIU needs the namespace and its addresses; the way to the outside can come meanwhile.
  const [{ pid }, network] = await settleAll([
    restored,
    session.net === "nat" ? ports.network.connect(instanceId, held) : noNetwork(),
  ]);
  if (session.net === "none" && outside !== null) {
    await ports.network.closeOutside(instanceId, outside);
  }
  const live = await connect(session.id, instanceId, pid, network?.address ?? null, ports);

  rollback.keep();
  return { ...live, terminalId: checkpoint.terminal ?? 1 };
}

/**
 * Removes everything of an incarnation: processes, mount, network, files, row.
 *
 * Idempotent; finds its processes by their root filesystem when no row tells them.
 */
export async function removeInstance(instanceId: string, ports: EnginePorts): Promise<void> {
  await killInstance(instanceId, ports);
  await clearInstance(instanceId, ports);
}

/** Removes what an incarnation whose processes have ended has left: mount, network, files, row. */
export async function clearInstance(instanceId: string, ports: EnginePorts): Promise<void> {
  await releaseInstance(instanceId, ports);
  ports.store.deleteInstance(instanceId);
  rmSync(workDirOf(instanceId), { recursive: true, force: true });
  ports.catalog.deleteInstance(instanceId);
}

/** Ends an incarnation's processes and gives back its mount and network; its files stay. */
export async function endInstance(instanceId: string, ports: EnginePorts): Promise<void> {
  await killInstance(instanceId, ports);
  await releaseInstance(instanceId, ports);
}

async function releaseInstance(instanceId: string, ports: EnginePorts): Promise<void> {
  ports.sandbox.unmountRoot(instanceId);
  await ports.network.remove(instanceId);
}

/** Ends an incarnation's processes and resolves when they are gone. Idempotent. */
export async function killInstance(instanceId: string, ports: EnginePorts): Promise<void> {
  const { sandbox, store, catalog } = ports;
  const row = catalog.instance(instanceId);
  if (row?.pid != null && row.startTicks !== null) {
    await sandbox.killTree(row.pid, row.startTicks);
    catalog.updateInstance(instanceId, { pid: null, startTicks: null });
    return;
  }
  // A crash between the start of PID 1 and its row leaves only its root to know it by.
  const { upperDir } = store.instancePaths(instanceId);
  for (const pid of sandbox.findInitsByUpper(upperDir)) {
    await sandbox.killTree(pid, sandbox.startTicks(pid) ?? 0);
  }
}

/** Connects to the PID 1 of an incarnation that runs already (after a daemon's death). */
export async function reconnectInstance(
  sessionId: string,
  instance: { id: string; pid: number; startTicks: number },
  ports: EnginePorts,
): Promise<LiveInstance> {
  const { pid, startTicks } = instance;
  const link = await connectInit(pid, ports);
  const terminalId = await firstTerminal(link);
  return { sessionId, instanceId: instance.id, pid, startTicks, link, terminalId };
}

/** Returns where CRIU writes its logs of an incarnation; on the tmpfs of the namespace. */
export function workDirOf(instanceId: string): string {
  return `/run/waypoint/work/${instanceId}`;
}

function noNetwork(): Promise<null> {
  return Promise.resolve(null);
}

async function prepareFiles(session: SessionRow, instanceId: string, ports: EnginePorts) {
  const { settings, sandbox, store } = ports;
  const paths = await store.createInstance(instanceId);
  sandbox.prepareUpper({
    upperDir: paths.upperDir,
    baseDir: session.base,
    stateDir: settings.layout.stateDir,
    hostname: session.name,
    resolvConf: session.net === "host" ? null : settings.resolvConf,
    initBinaryPath: settings.initBinaryPath,
    bashRc: settings.bashRc,
  });
  return paths;
}

function beginInstance(
  sessionId: string,
  instanceId: string,
  ports: EnginePorts,
  rollback: Rollback,
): void {
  // The row comes first: whatever is made after it can be found and removed by the next daemon.
  const row = { id: instanceId, session: sessionId, pid: null, startTicks: null, address: null };
  ports.catalog.insertInstance(row);
  mkdirSync(workDirOf(instanceId), { recursive: true, mode: 0o700 });
  rollback.defer("remove the unfinished instance", () => removeInstance(instanceId, ports));
}

async function connect(
  sessionId: string,
  instanceId: string,
  pid: number,
  address: string | null,
  ports: EnginePorts,
): Promise<Omit<LiveInstance, "terminalId">> {
  const startTicks = ports.sandbox.startTicks(pid) ?? 0;
  ports.catalog.updateInstance(instanceId, { pid, startTicks, address });
  const link = await connectInit(pid, ports);
  return { sessionId, instanceId, pid, startTicks, link };
}

async function firstTerminal(link: InitLink): Promise<number> {
  const { terminals } = await link.list();
  return terminals[0]?.id ?? 1;
}
