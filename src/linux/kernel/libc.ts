import { closeSync, openSync } from "node:fs";
import { createRequire } from "node:module";
import process from "node:process";
import { isSystemError } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";

/**
 * The system calls that Node lacks, through koffi.
 *
 * Every function throws a plain `Error` with `errno` (a number) and `code` ("ENOSPC"), as Node's
 * own file functions do; the adapter that called translates it.
 */

type Native = (...args: unknown[]) => number;
interface AsyncNative {
  async(...argumentsAndCallback: unknown[]): void;
}
interface Koffi {
  address(value: Uint8Array): bigint;
  load(library: string): { func(prototype: string): Native & AsyncNative };
  errno(): number;
  os: { errno: Record<string, number> };
}

// Loaded by require: koffi picks its prebuilt library by paths relative to its own file.
export const koffi = createRequire(import.meta.url)("koffi") as Koffi;
export const libc = koffi.load("libc.so.6");
const native = {
  mount: libc.func(
    "int mount(const char *source, const char *target, const char *type, unsigned long flags, const char *data)",
  ),
  umount2: libc.func("int umount2(const char *target, int flags)"),
  ioctl: libc.func("int ioctl(int fd, unsigned long request, _Inout_ uint8_t *argument)"),
  lsetxattr: libc.func(
    "int lsetxattr(const char *path, const char *name, const char *value, size_t size, int flags)",
  ),
  mknod: libc.func("int mknod(const char *path, unsigned int mode, unsigned long device)"),
  flock: libc.func("int flock(int fd, int operation)"),
  open: libc.func("int open(const char *path, int flags, unsigned int mode)"),
  getsockopt: libc.func(
    "int getsockopt(int fd, int level, int name, _Out_ uint8_t *value, _Inout_ uint32_t *length)",
  ),
  close: libc.func("int close(int fd)"),
  fcntl: libc.func("int fcntl(int fd, int command, int argument)"),
  closeRange: libc.func("int close_range(unsigned int first, unsigned int last, int flags)"),
  syncfs: libc.func("int syncfs(int fd)"),
  mallocTrim: libc.func("int malloc_trim(size_t pad)"),
  setns: libc.func("int setns(int fd, int type)"),
  socket: libc.func("int socket(int family, int type, int protocol)"),
  sethostname: libc.func("int sethostname(const char *name, size_t length)"),
  bind: libc.func("int bind(int fd, const uint8_t *address, uint32_t length)"),
  setsockopt: libc.func(
    "int setsockopt(int fd, int level, int name, const uint8_t *value, uint32_t length)",
  ),
};

export const MS_RDONLY = 1;
export const MS_NOSUID = 2;
export const MS_NODEV = 4;
export const MS_NOEXEC = 8;
export const MS_REMOUNT = 32;
export const MS_BIND = 4096;
export const MS_MOVE = 8192;
const MNT_DETACH = 2;
const LOCK_EX = 2;
const LOCK_NB = 4;
const CLOSE_RANGE_CLOEXEC = 4;
const O_RDWR = 2;
const CLONE_NEWNET = 0x40000000;
const CLONE_NEWUTS = 0x04000000;
const AF_INET = 2;
const AF_INET6 = 10;
const O_CREAT = 0o100;

/** An error of a system call, shaped like Node's. */
export interface SystemCallError extends Error {
  errno: number;
  code: string;
}

export function check(call: string, result: number, errno = koffi.errno()): number {
  if (result !== -1) return result;
  const code = Object.entries(koffi.os.errno).find(([, n]) => n === errno)?.[0] ?? `E${errno}`;
  throw Object.assign(new Error(`${call}: ${code}`), { errno, code });
}

/** mount(2). */
export function mount(
  source: string,
  target: string,
  type: string | null,
  flags: number,
  data: string | null,
): void {
  check(`mount ${type ?? "bind"} on ${target}`, native.mount(source, target, type, flags, data));
}

/** umount2(2); `MNT_DETACH` unless said otherwise, so that a busy mount goes when it is free. */
export function unmount(target: string, flags = MNT_DETACH): void {
  check(`umount ${target}`, native.umount2(target, flags));
}

/**
 * As {@link unmount}, off the event loop: the kernel waits until every processor has passed a quiet
 * point, which takes milliseconds where they are busy.
 */
export function unmountAside(target: string): Promise<void> {
  return new Promise((resolve, reject) => {
    native.umount2.async(target, MNT_DETACH, (_error: unknown, result: number) => {
      try {
        // The reason stayed in the other thread; it is told here, or has passed.
        if (result !== 0) unmount(target);
        resolve();
      } catch (error) {
        reject(error as Error);
      }
    });
  });
}

/** ioctl(2) with a structure as argument. */
export function ioctl(fd: number, request: number, argument: Uint8Array): number {
  return check(`ioctl 0x${request.toString(16)}`, native.ioctl(fd, request, argument));
}

/**
 * ioctl(2) on a thread of its own, for requests that take long.
 *
 * The number of an error stays in that thread; what is thrown has the code EIO.
 */
export function ioctlAside(fd: number, request: number, argument: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    native.ioctl.async(fd, request, argument, (error: unknown, result: number) => {
      if (error === null && result === 0) resolve();
      else reject(error instanceof Error ? error : asideFailure(`ioctl 0x${request.toString(16)}`));
    });
  });
}

/** lsetxattr(2) with a text value. */
export function setXattr(path: string, name: string, value: string): void {
  check(`setxattr ${name}`, native.lsetxattr(path, name, value, Buffer.byteLength(value), 0));
}

/** mknod(2) of a character device; the mode is set exactly, whatever the umask. */
export function makeCharacterDevice(path: string, major: number, minor: number): void {
  const S_IFCHR = 0o020000;
  check(`mknod ${path}`, native.mknod(path, S_IFCHR | 0o666, major * 256 + minor));
}

/** Opens a file for reading with a descriptor that programs started with exec inherit. */
export function openInherited(path: string): number {
  return check(`open ${path}`, native.open(path, 0, 0));
}

/** Lets programs started with exec inherit `fd`; Node marks what it was started with otherwise. */
export function keepOnExec(fd: number): void {
  const F_SETFD = 2;
  check(`fcntl ${fd}`, native.fcntl(fd, F_SETFD, 0));
}

/**
 * Opens a lock file and takes its lock, which lasts until every process that inherited the
 * descriptor has ended. The descriptor is inherited by programs started with exec.
 *
 * @returns the descriptor, or `null` when another process holds the lock.
 */
export function tryLockFile(path: string): number | null {
  const fd = check(`open ${path}`, native.open(path, O_RDWR | O_CREAT, 0o600));
  if (native.flock(fd, LOCK_EX | LOCK_NB) === 0) return fd;
  native.close(fd);
  return null;
}

/**
 * Marks every descriptor from 3 on as close-on-exec.
 *
 * Node passes on what it was started with; one such pipe inside a session makes its dump fail.
 */
export function closeInheritedOnExec(): void {
  check("close_range", native.closeRange(3, 0xffffffff, CLOSE_RANGE_CLOEXEC));
}

let ownNetworkFd: number | null = null;
let ownUtsFd: number | null = null;

/**
 * Returns a TCP socket that belongs to another network namespace, not connected yet.
 *
 * The thread enters that namespace and leaves it in one step, so that nothing else is ever in it.
 */
export function openTcpSocketIn(netnsPath: string, family: 4 | 6): number {
  const SOCK_STREAM_CLOEXEC_NONBLOCK = 1 | 0o2000000 | 0o4000;
  ownNetworkFd ??= openSync("/proc/thread-self/ns/net", "r");
  const otherFd = openSync(netnsPath, "r");
  try {
    check(`setns ${netnsPath}`, native.setns(otherFd, CLONE_NEWNET));
    const fd = native.socket(family === 4 ? AF_INET : AF_INET6, SOCK_STREAM_CLOEXEC_NONBLOCK, 0);
    const errno = koffi.errno();
    // Without a way back nothing that this process does would be where it belongs.
    if (native.setns(ownNetworkFd, CLONE_NEWNET) !== 0) process.abort();
    return check(`socket in ${netnsPath}`, fd, errno);
  } finally {
    closeSync(otherFd);
  }
}

/**
 * Gives the host of another UTS namespace a name.
 *
 * The thread enters that namespace and leaves it in one step, as {@link openTcpSocketIn} does.
 */
export function nameHostIn(utsPath: string, name: string): void {
  ownUtsFd ??= openSync("/proc/thread-self/ns/uts", "r");
  const otherFd = openSync(utsPath, "r");
  try {
    check(`setns ${utsPath}`, native.setns(otherFd, CLONE_NEWUTS));
    const result = native.sethostname(name, Buffer.byteLength(name));
    const errno = koffi.errno();
    // Without a way back the machine itself would be renamed next.
    if (native.setns(ownUtsFd, CLONE_NEWUTS) !== 0) process.abort();
    check(`sethostname in ${utsPath}`, result, errno);
  } finally {
    closeSync(otherFd);
  }
}

/** bind(2) of a TCP socket to a port of its namespace's 127.0.0.1, as servers do; 0 for any. */
export function bindToLoopback(fd: number, port: number): void {
  const SOL_SOCKET = 1;
  const SO_REUSEADDR = 2;
  const on = new Uint8Array([1, 0, 0, 0]);
  check("setsockopt", native.setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, on, on.length));
  const SOCKADDR_IN_BYTES = 16;
  const address = new Uint8Array(SOCKADDR_IN_BYTES);
  address.set([AF_INET, 0, port >> 8, port & 0xff, 127, 0, 0, 1]);
  check(`bind to port ${port}`, native.bind(fd, address, address.length));
}

/** Returns the process at the other end of a unix socket, and whose it is (SO_PEERCRED). */
export function peerCredentials(fd: number): { pid: number; uid: number } {
  const SOL_SOCKET = 1;
  const SO_PEERCRED = 17;
  const CREDENTIALS_BYTES = 12;
  const credentials = new Uint8Array(CREDENTIALS_BYTES);
  check(
    "getsockopt",
    native.getsockopt(fd, SOL_SOCKET, SO_PEERCRED, credentials, [CREDENTIALS_BYTES]),
  );
  const fields = new DataView(credentials.buffer);
  return { pid: fields.getInt32(0, true), uid: fields.getUint32(4, true) };
}

/** malloc_trim(3): gives the memory that nothing uses back to the kernel, in all arenas. */
export function trimHeap(): void {
  native.mallocTrim(0);
}

/** syncfs(2) of the filesystem that holds `fd`, off the event loop. */
export function syncFilesystem(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    native.syncfs.async(fd, (error: unknown, result: number) => {
      if (error === null && result === 0) resolve();
      else reject(error instanceof Error ? error : asideFailure("syncfs"));
    });
  });
}

/** The number of the error stays in the thread that made the call; a sync knows mostly this one. */
function asideFailure(call: string): Error {
  return Object.assign(new Error(`${call}: EIO`), { code: "EIO" });
}

/** Turns errors of the disk below the store into our words and leaves any other error as it is. */
export function explainDiskError(error: unknown, what: string): unknown {
  if (isSystemError(error, "EROFS", "EIO")) {
    return new WaypointError("STORE_FAILED", `The store cannot be written to ${what}.`, {
      hint: "The disk below it failed or ran full. Free disk space, then `waypoint daemon stop --sessions`; durable checkpoints are still there.",
      detail: { reason: String(error) },
      cause: error,
    });
  }
  if (!isSystemError(error, "ENOSPC", "EDQUOT")) return error;
  return new WaypointError("STORE_FULL", `The store has no room left to ${what}.`, {
    hint: "Remove sessions that you no longer need (`waypoint rm NAME`), or free disk space.",
    cause: error,
  });
}
