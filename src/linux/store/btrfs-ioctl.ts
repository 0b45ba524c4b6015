import { closeSync, existsSync, openSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { isSystemError } from "../../base/index.ts";
import { ioctl, ioctlAside } from "../kernel/index.ts";

// Numbers and layouts from <linux/btrfs.h>; docs/notes/btrfs has the source.
const BTRFS_IOC_SYNC = 0x9408;
const BTRFS_IOC_SNAP_DESTROY = 0x5000940f;
const BTRFS_IOC_SNAP_CREATE_V2 = 0x50009417;
const BTRFS_IOC_SUBVOL_CREATE_V2 = 0x50009418;
const BTRFS_IOC_SUBVOL_SETFLAGS = 0x4008941a;
const BTRFS_IOC_FS_INFO = 0x8400941f;
const BTRFS_IOC_GET_SUBVOL_INFO = 0x81f8943c;
const SUBVOL_INFO_BYTES = 504;
const SUBVOL_INFO_CTRANSID_OFFSET = 344;
const SUBVOL_INFO_CTIME_OFFSET = 376;
const FS_INFO_BYTES = 1024;
const FS_INFO_FSID_OFFSET = 16;
const BTRFS_SUBVOL_RDONLY = 2n;
/** Number of the root directory of every subvolume. */
const FIRST_FREE_OBJECTID = 256;
const VOL_ARGS_BYTES = 4096;
const V1_NAME_OFFSET = 8;
const V2_FLAGS_OFFSET = 16;
const V2_NAME_OFFSET = 56;

/** Creates an empty subvolume at `subvolumePath`, whose parent directory exists. */
export function createSubvolume(subvolumePath: string): void {
  const argument = argumentsV2({ sourceFd: 0, name: path.basename(subvolumePath), flags: 0n });
  inDirectory(path.dirname(subvolumePath), (fd) => ioctl(fd, BTRFS_IOC_SUBVOL_CREATE_V2, argument));
}

/** Snapshots `sourcePath` at `targetPath`, in time that does not depend on the number of files. */
export function createSnapshot(
  sourcePath: string,
  targetPath: string,
  options: { readOnly: boolean },
): void {
  inDirectory(sourcePath, (sourceFd) => {
    const flags = options.readOnly ? BTRFS_SUBVOL_RDONLY : 0n;
    const argument = argumentsV2({ sourceFd, name: path.basename(targetPath), flags });
    inDirectory(path.dirname(targetPath), (fd) => ioctl(fd, BTRFS_IOC_SNAP_CREATE_V2, argument));
  });
}

/**
 * Snapshots `sourcePath` for writing, off the event loop: the kernel commits what was changed first, and
 * whoever asks waits for that.
 */
export async function createSnapshotAside(sourcePath: string, targetPath: string): Promise<void> {
  await using source = await open(sourcePath, "r");
  const name = path.basename(targetPath);
  const argument = argumentsV2({ sourceFd: source.fd, name, flags: 0n });
  await ioctlInDirectory(path.dirname(targetPath), BTRFS_IOC_SNAP_CREATE_V2, argument);
}

/** Makes a subvolume read-only, as a comparison needs it. */
export function setReadOnly(subvolumePath: string): void {
  const flags = new Uint8Array(new BigUint64Array([BTRFS_SUBVOL_RDONLY]).buffer);
  inDirectory(subvolumePath, (fd) => ioctl(fd, BTRFS_IOC_SUBVOL_SETFLAGS, flags));
}

/** Removes a subvolume; the space is given back in the background. */
export function deleteSubvolume(subvolumePath: string): void {
  inDirectory(path.dirname(subvolumePath), (fd) =>
    ioctl(fd, BTRFS_IOC_SNAP_DESTROY, argumentsV1(subvolumePath)),
  );
}

/**
 * The same off the event loop: it waits for whoever makes a snapshot in the same directory. Succeeds where there is
 * nothing.
 */
export async function deleteSubvolumeAside(subvolumePath: string): Promise<void> {
  if (!existsSync(subvolumePath)) return;
  const argument = argumentsV1(subvolumePath);
  try {
    await ioctlInDirectory(path.dirname(subvolumePath), BTRFS_IOC_SNAP_DESTROY, argument);
  } catch (error) {
    // Another one has removed it meanwhile.
    if (!isSystemError(error, "ENOENT")) throw error;
  }
}

/**
 * Commits what was changed and wakes the thread that gives back the space of removed subvolumes
 * and empty block groups, which syncfs(2) does not; else that takes up to half a minute.
 */
export function reclaimSpace(directory: string): void {
  inDirectory(directory, (fd) => ioctl(fd, BTRFS_IOC_SYNC, new Uint8Array(1)));
}

/**
 * Returns the transaction that changed an inode of a subvolume last. A snapshot and its source have
 * the same one until one of them is changed. Data that is not written out yet may not show in it.
 */
export function lastChange(subvolumePath: string): bigint {
  return subvolumeInfo(subvolumePath).getBigUint64(SUBVOL_INFO_CTRANSID_OFFSET, true);
}

/** Tells whether a path is a subvolume; also where there is nothing, or another filesystem. */
export function isSubvolume(candidatePath: string): boolean {
  return statSync(candidatePath, { throwIfNoEntry: false })?.ino === FIRST_FREE_OBJECTID;
}

/** Returns the number by which btrfs knows a subvolume. */
export function subvolumeId(subvolumePath: string): bigint {
  return subvolumeInfo(subvolumePath).getBigUint64(0, true);
}

/** A state of a subvolume's files. */
export interface FilesState {
  /** The transaction that changed an inode last; one may last half a minute. */
  transaction: bigint;
  /** When an inode was changed last, in milliseconds since the epoch. */
  changedAtMs: number;
}

/** Returns the state of a subvolume's files; see {@link lastChange}. */
export function filesState(subvolumePath: string): FilesState {
  const info = subvolumeInfo(subvolumePath);
  const seconds = Number(info.getBigUint64(SUBVOL_INFO_CTIME_OFFSET, true));
  return {
    transaction: info.getBigUint64(SUBVOL_INFO_CTRANSID_OFFSET, true),
    changedAtMs: seconds * 1000 + info.getUint32(SUBVOL_INFO_CTIME_OFFSET + 8, true) / 1e6,
  };
}

function subvolumeInfo(subvolumePath: string): DataView {
  const argument = new Uint8Array(SUBVOL_INFO_BYTES);
  inDirectory(subvolumePath, (fd) => ioctl(fd, BTRFS_IOC_GET_SUBVOL_INFO, argument));
  return new DataView(argument.buffer);
}

/** Returns the UUID of the filesystem that holds `directory`, as /sys/fs/btrfs names it. */
export function filesystemUuid(directory: string): string {
  const argument = new Uint8Array(FS_INFO_BYTES);
  inDirectory(directory, (fd) => ioctl(fd, BTRFS_IOC_FS_INFO, argument));
  const hex = Buffer.from(
    argument.subarray(FS_INFO_FSID_OFFSET, FS_INFO_FSID_OFFSET + 16),
  ).toString("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function argumentsV1(subvolumePath: string): Uint8Array {
  const argument = new Uint8Array(VOL_ARGS_BYTES);
  writeName(argument, V1_NAME_OFFSET, path.basename(subvolumePath));
  return argument;
}

function argumentsV2(fields: { sourceFd: number; name: string; flags: bigint }): Uint8Array {
  const argument = new Uint8Array(VOL_ARGS_BYTES);
  const view = new DataView(argument.buffer);
  view.setBigInt64(0, BigInt(fields.sourceFd), true);
  view.setBigUint64(V2_FLAGS_OFFSET, fields.flags, true);
  writeName(argument, V2_NAME_OFFSET, fields.name);
  return argument;
}

function writeName(argument: Uint8Array, offset: number, name: string): void {
  const bytes = Buffer.from(name, "utf8");
  // The last byte stays zero: the kernel reads a C string.
  if (bytes.length > 255) throw new RangeError("subvolume name too long");
  argument.set(bytes, offset);
}

/** Also to open a directory waits while a snapshot is made in it. */
async function ioctlInDirectory(
  directory: string,
  request: number,
  argument: Uint8Array,
): Promise<void> {
  await using handle = await open(directory, "r");
  await ioctlAside(handle.fd, request, argument).catch(() => {
    // The reason stayed in the other thread; it is told here, or has passed.
    ioctl(handle.fd, request, argument);
  });
}

function inDirectory(directory: string, act: (fd: number) => void): void {
  const fd = openSync(directory, "r");
  try {
    act(fd);
  } finally {
    closeSync(fd);
  }
}
