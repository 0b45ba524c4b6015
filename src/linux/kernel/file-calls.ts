import { constants, openSync } from "node:fs";
import { check, koffi, libc } from "./libc.ts";

/** System calls on files that are open, or that must be found inside one root. */

const SYS_OPENAT2 = 437;
const AT_FDCWD = -100;
const AT_SYMLINK_FOLLOW = 0x400;
const O_CLOEXEC = 0o2000000;
const O_PATH = 0o10000000;
const RESOLVE_NO_MAGICLINKS = 0x02;
const RESOLVE_NO_SYMLINKS = 0x04;
const RESOLVE_BENEATH = 0x08;
const RESOLVE_IN_ROOT = 0x10;
/** struct open_how: flags, mode, resolve. */
const OPEN_HOW_BYTES = 24;
const SEEK_DATA = 3;
const SEEK_HOLE = 4;
const S_IFIFO = 0o010000;
const RENAME_FLAGS = { "no-replace": 1, exchange: 2 } as const;

const native = {
  openat2: libc.func(
    "long syscall(long number, int fd, const uint8_t *path, const uint8_t *how, size_t size)",
  ),
  linkat: libc.func(
    "int linkat(int fromFd, const char *from, int toFd, const uint8_t *to, int flags)",
  ),
  lseek: libc.func("int64_t lseek64(int fd, int64_t offset, int whence)"),
  mknodat: libc.func(
    "int mknodat(int fd, const uint8_t *path, unsigned int mode, uint64_t device)",
  ),
  renameat2: libc.func(
    "int renameat2(int fromFd, const uint8_t *from, int toFd, const uint8_t *to, unsigned int flags)",
  ),
  fsetxattr: libc.func(
    "int setxattr(const char *path, const char *name, const uint8_t *value, size_t size, int flags)",
  ),
  removexattr: libc.func("int removexattr(const char *path, const char *name)"),
};

/** Opens the root of a process, with everything that is mounted in it, as a place to look names up. */
export function openRootOf(hostPid: number): number {
  return openSync(`/proc/${hostPid}/root`, O_PATH | constants.O_DIRECTORY);
}

/**
 * Opens `path` as a process with the root `rootFd` would: links, absolute ones too, and `..` stay
 * inside, whatever anybody changes meanwhile. The links of /proc that lead anywhere are refused.
 */
export function openInside(rootFd: number, path: Buffer, flags: number): number {
  return openat2(rootFd, path, flags, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

/** Opens `path` below a directory, with no link anywhere on the way. */
export function openBelow(directoryFd: number, path: Buffer, flags: number): number {
  const resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return openat2(directoryFd, path, flags, resolve);
}

function openat2(fd: number, path: Buffer, flags: number, resolve: number): number {
  const how = new DataView(new ArrayBuffer(OPEN_HOW_BYTES));
  how.setBigUint64(0, BigInt(flags | O_CLOEXEC), true);
  how.setBigUint64(16, BigInt(resolve), true);
  const bytes = new Uint8Array(how.buffer);
  const result = native.openat2(SYS_OPENAT2, fd, cString(path), bytes, OPEN_HOW_BYTES);
  return check("openat2", Number(result));
}

/** Gives an open file one more name. */
export function linkOpenFile(fd: number, directoryFd: number, name: Buffer): void {
  const from = `/proc/self/fd/${fd}`;
  check("linkat", native.linkat(AT_FDCWD, from, directoryFd, cString(name), AT_SYMLINK_FOLLOW));
}

/** A name in an open directory. */
export interface NameIn {
  directoryFd: number;
  name: Buffer;
}

/**
 * Renames without losing anything: `no-replace` fails where `to` is taken (EEXIST), `exchange` puts
 * each in the other's place, in one step. A filesystem that cannot do it says EINVAL.
 */
export function renameSafely(from: NameIn, to: NameIn, how: keyof typeof RENAME_FLAGS): void {
  const flags = RENAME_FLAGS[how];
  const names = [cString(from.name), cString(to.name)] as const;
  check("rename", native.renameat2(from.directoryFd, names[0], to.directoryFd, names[1], flags));
}

/** Makes a FIFO that nobody but its owner may use yet. */
export function makeFifo(directoryFd: number, name: Buffer): void {
  check("mknodat", native.mknodat(directoryFd, cString(name), S_IFIFO | 0o600, 0));
}

/** Sets an extended attribute of an open file. */
export function setXattrOf(fd: number, name: string, value: Buffer): void {
  // By its path, because an fd that was opened as a mere place takes no attributes itself.
  const path = `/proc/self/fd/${fd}`;
  check(`setxattr ${name}`, native.fsetxattr(path, name, value, value.length, 0));
}

/** Removes an extended attribute of an open file. */
export function removeXattrOf(fd: number, name: string): void {
  check(`removexattr ${name}`, native.removexattr(`/proc/self/fd/${fd}`, name));
}

/** Returns the next stretch of a file that is no hole, from `offset` on; `null` after the last. */
export function nextData(fd: number, offset: number): { start: number; end: number } | null {
  const start = Number(native.lseek(fd, offset, SEEK_DATA));
  const ENXIO = 6;
  if (start === -1 && koffi.errno() === ENXIO) return null;
  check("lseek", start);
  return { start, end: check("lseek", Number(native.lseek(fd, start, SEEK_HOLE))) };
}

function cString(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.from([0])]);
}
