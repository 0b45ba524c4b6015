import { check, koffi, libc } from "./libc.ts";

/** System calls on names that are bytes, not text; Node's own functions take a Buffer for them. */

const O_CLOEXEC = 0o2000000;
const F_SETPIPE_SZ = 1031;
const PIPE_BYTES = 1024 * 1024;
const NAMES_BYTES_MAX = 64 * 1024;
const ENODATA = 61;
const SYS_OPEN_TREE = 428;
const AT_FDCWD = -100;
const OPEN_TREE_CLONE = 1;
const AT_RECURSIVE = 0x8000;

const STATFS_BYTES = 256;
/** Of 64-bit machines: the first field, and the eleventh. */
const STATFS_TYPE_OFFSET = 0;
const STATFS_FLAGS_OFFSET = 80;
const ST_RDONLY = 1n;

const native = {
  statfs: libc.func("int statfs(const char *path, _Out_ uint8_t *information)"),
  pipe2: libc.func("int pipe2(_Out_ int *ends, int flags)"),
  fcntl: libc.func("int fcntl(int fd, int command, int argument)"),
  syscall: libc.func("long syscall(long number, int fd, const char *path, unsigned int flags)"),
  nameToHandleAt: libc.func(
    "int name_to_handle_at(int fd, const uint8_t *path, _Inout_ uint8_t *handle, _Out_ int *mountId, int flags)",
  ),
  llistxattr: libc.func("long llistxattr(const uint8_t *path, _Out_ uint8_t *names, size_t size)"),
  lgetxattr: libc.func(
    "long lgetxattr(const uint8_t *path, const char *name, _Out_ uint8_t *value, size_t size)",
  ),
};

/** Makes a pipe that programs started with exec do not inherit, as large as the kernel allows. */
export function makePipe(): { readFd: number; writeFd: number } {
  const ends = [0, 0];
  check("pipe2", native.pipe2(ends, O_CLOEXEC));
  const [readFd = -1, writeFd = -1] = ends;
  // A smaller pipe works too; it only makes the writer wait more often.
  native.fcntl(writeFd, F_SETPIPE_SZ, PIPE_BYTES);
  return { readFd, writeFd };
}

/**
 * Opens what is at `directory` without what is mounted in it, as an overlay sees its layers.
 *
 * @returns a descriptor below whose path in /proc/self/fd the files are; close it.
 */
export function openWithoutMounts(directory: string): number {
  const flags = OPEN_TREE_CLONE | O_CLOEXEC;
  const fd = native.syscall(SYS_OPEN_TREE, AT_FDCWD, directory, flags);
  return check(`open_tree ${directory}`, fd);
}

/**
 * Opens a copy of what is mounted at `directory`, with what is mounted in it, that is mounted nowhere.
 *
 * @returns a descriptor; the copy goes with it, unless it was mounted somewhere before.
 */
export function openWithMounts(directory: string): number {
  const flags = OPEN_TREE_CLONE | AT_RECURSIVE | O_CLOEXEC;
  return check(`open_tree ${directory}`, native.syscall(SYS_OPEN_TREE, AT_FDCWD, directory, flags));
}

/** What statfs(2) says of the filesystem that holds a directory, and Node does not tell of it. */
export function mountedAt(directory: string): { type: number; isReadOnly: boolean } {
  const information = Buffer.alloc(STATFS_BYTES);
  check(`statfs ${directory}`, native.statfs(directory, information));
  return {
    type: information.readUInt32LE(STATFS_TYPE_OFFSET),
    // That of the mount, or of the filesystem.
    isReadOnly: (information.readBigUInt64LE(STATFS_FLAGS_OFFSET) & ST_RDONLY) !== 0n,
  };
}

/** Returns the names of a file's extended attributes; links are not followed. */
export function listXattrs(filePath: Buffer): string[] {
  const names = new Uint8Array(NAMES_BYTES_MAX);
  const sizeBytes = native.llistxattr(cString(filePath), names, names.length);
  check("llistxattr", sizeBytes);
  return Buffer.from(names.buffer, 0, sizeBytes)
    .toString("latin1")
    .split("\0")
    .filter((name) => name !== "");
}

/** Returns the value of an extended attribute, or `null` without it; links are not followed. */
export function readXattr(filePath: Buffer, name: string): Buffer | null {
  const value = new Uint8Array(NAMES_BYTES_MAX);
  const sizeBytes = native.lgetxattr(cString(filePath), name, value, value.length);
  if (sizeBytes === -1 && koffi.errno() === ENODATA) return null;
  check(`lgetxattr ${name}`, sizeBytes);
  return Buffer.from(value.buffer, 0, sizeBytes);
}

/**
 * Returns what tells a file from all others of its filesystem, also from a later one with the same
 * inode number: the type and the bytes of its handle. `null` where the filesystem has none.
 */
export function fileHandle(filePath: Buffer): { type: number; bytes: Buffer } | null {
  const HEADER_BYTES = 8;
  const HANDLE_BYTES_MAX = 128;
  const handle = new Uint8Array(HEADER_BYTES + HANDLE_BYTES_MAX);
  const view = new DataView(handle.buffer);
  view.setUint32(0, HANDLE_BYTES_MAX, true);
  const mountId = [0];
  if (native.nameToHandleAt(AT_FDCWD, cString(filePath), handle, mountId, 0) === -1) return null;
  const bytes = Buffer.from(handle.subarray(HEADER_BYTES, HEADER_BYTES + view.getUint32(0, true)));
  return { type: view.getInt32(4, true), bytes };
}

/** Returns where a buffer lies, for structures that hold pointers; keep the buffer meanwhile. */
export function addressOf(buffer: Uint8Array): bigint {
  return koffi.address(buffer);
}

function cString(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.from([0])]);
}
