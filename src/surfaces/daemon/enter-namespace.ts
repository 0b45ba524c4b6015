import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { cpus } from "node:os";
import process from "node:process";
import {
  closeToOthers,
  noteStateDir,
  pollUntil,
  requireOwnStateDir,
  runProcess,
  type StateLayout,
} from "../../base/index.ts";
import { parseMountInfo } from "../../formats/proc/index.ts";
import {
  keepOnExec,
  MS_NODEV,
  MS_NOSUID,
  mount,
  openInherited,
  tryLockFile,
} from "../../linux/kernel/index.ts";
import { hasCode, WaypointError } from "../../shared/errors/index.ts";
import { MALLOC_ENVIRONMENT, NODE_FLAGS } from "./own-memory.ts";

/** Tells the second start of the program that it is inside the namespace. */
const INSIDE_VARIABLE = "WAYPOINT_INSIDE";
const HOST_NAMESPACE_VARIABLE = "WAYPOINT_HOST_NAMESPACE_FD";
/** How long to wait for a daemon that starts or stops; a client looks and tries again then. */
const LOCK_TIMEOUT_MS = 10_000;
/** Marks the tmpfs that was mounted over /run. */
const RUN_MARKER = "/run/waypoint-namespace";

/** Tells whether this process is inside the daemon's mount namespace already. */
export function isInsideNamespace(): boolean {
  return process.env[INSIDE_VARIABLE] === "1";
}

/**
 * Takes the state directory's lock and starts this program again inside its mount namespace.
 *
 * The namespace hides the store, the sessions' roots and CRIU's cache from the host. A bind mount
 * of its file keeps it alive without any process, so that the next daemon finds every mount again.
 * The lock is held across the exec by an inherited descriptor, as is `readyFd`. Does not return on
 * success.
 *
 * @throws STATE_DIR_BUSY  another daemon holds the lock.
 */
export async function enterNamespace(layout: StateLayout, readyFd: number): Promise<never> {
  requireOwnStateDir(layout.stateDir);
  mkdirSync(layout.stateDir, { recursive: true, mode: 0o700 });
  closeToOthers(layout.stateDir, [layout.failedLogsDir]);
  await takeLock(layout);
  tryNoteStateDir(layout);
  if (existsSync(`/proc/self/fd/${readyFd}`)) keepOnExec(readyFd);
  const hostNamespaceFd = openInherited("/proc/self/ns/mnt");
  if (!isNamespaceKept(layout)) {
    await prepareNamespaceDir(layout);
    await makeNamespace(layout);
  }
  const program = ["/usr/bin/nsenter", `--mount=${layout.namespacePath}`];
  const node = [process.execPath, ...NODE_FLAGS, ...process.execArgv];
  const argv = [...program, ...node, ...process.argv.slice(1)];
  process.execve?.(argv[0] as string, argv, {
    ...process.env,
    ...MALLOC_ENVIRONMENT,
    [INSIDE_VARIABLE]: "1",
    [HOST_NAMESPACE_VARIABLE]: String(hostNamespaceFd),
  });
  throw new WaypointError("INTERNAL", "The daemon could not start itself again.");
}

/** Where it cannot be noted, as below a read-only /var/lib, only other daemons' sessions can see it. */
function tryNoteStateDir({ stateDir }: StateLayout): void {
  try {
    noteStateDir(stateDir);
  } catch (error) {
    process.stderr.write(`The sessions of other daemons can see ${stateDir}: ${String(error)}\n`);
  }
}

/** Waits for a daemon that is starting or stopping; one that answers keeps its lock. */
async function takeLock(layout: StateLayout): Promise<void> {
  const busy = new WaypointError("STATE_DIR_BUSY", `Another daemon runs on ${layout.stateDir}.`, {
    hint: "`waypoint daemon status` shows it; `waypoint daemon stop` ends it.",
  });
  try {
    await pollUntil("the lock", { timeoutMs: LOCK_TIMEOUT_MS, intervalMs: 20 }, async () => {
      if (tryLockFile(layout.lockPath) !== null) return true;
      if (await isAnswering(layout.socketPath)) throw busy;
      return undefined;
    });
  } catch (error) {
    throw hasCode(error, "DEADLINE_EXCEEDED") ? busy : error;
  }
}

function isAnswering(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/** Mounts the tmpfs on /run, where CRIU caches its probe of the kernel and netns files lie. */
export function mountRun(): void {
  if (existsSync(RUN_MARKER)) return;
  mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755");
  writeFileSync(RUN_MARKER, "");
}

/** Returns the mount namespace of whoever started the daemon; `null` if it was not noted. */
export function hostNamespacePath(): string | null {
  const fd = process.env[HOST_NAMESPACE_VARIABLE];
  return fd === undefined ? null : `/proc/${process.pid}/fd/${fd}`;
}

/** Lets go of the namespace: when this daemon ends, all its mounts end with it. */
export async function releaseNamespace(layout: StateLayout): Promise<void> {
  const hostNamespace = `--mount=${hostNamespacePath()}`;
  const umount = `umount -l "$0"/mnt; umount -l "$0"; true`;
  await runProcess(["nsenter", hostNamespace, "sh", "-c", umount, layout.namespaceDir]);
}

function isNamespaceKept(layout: StateLayout): boolean {
  return mountTypes().get(layout.namespacePath) === "nsfs";
}

/** A namespace file can only be kept on a mount that is private. */
async function prepareNamespaceDir(layout: StateLayout): Promise<void> {
  const { namespaceDir, namespacePath } = layout;
  mkdirSync(namespaceDir, { recursive: true, mode: 0o700 });
  if (!mountTypes().has(namespaceDir)) {
    await runProcess(["mount", "--bind", namespaceDir, namespaceDir]);
  }
  await runProcess(["mount", "--make-private", namespaceDir]);
  writeFileSync(namespacePath, "");
}

/**
 * Makes the namespace and keeps it by its file.
 *
 * The kernel binds only a namespace with a higher number than the one it is bound in, to keep out
 * loops, and hands out numbers per processor. Where the daemon is not started from the first
 * namespace of the machine, that can fail on one processor and succeed on the next.
 */
async function makeNamespace({ namespacePath }: StateLayout): Promise<void> {
  const unshare = ["unshare", `--mount=${namespacePath}`, "--propagation", "private", "true"];
  let failure: unknown;
  for (const processor of [null, ...cpus().keys()]) {
    const pinned = processor === null ? [] : ["taskset", "--cpu-list", String(processor)];
    try {
      await runProcess([...pinned, ...unshare] as [string, ...string[]]);
      return;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function mountTypes(): Map<string, string> {
  const mounts = parseMountInfo(readFileSync("/proc/self/mountinfo", "utf8"));
  return new Map(mounts.map(({ mountPoint, type }) => [mountPoint, type]));
}
