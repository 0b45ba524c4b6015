import path from "node:path";
import type { MountEntry } from "../../formats/proc/index.ts";

/** What a directory is, whatever leads to it: links and binds have no part in it. */
export interface Place {
  /** Major and minor of its filesystem, as mountinfo has them. */
  device: string;
  /** Its path from the root of its filesystem. */
  path: string;
}

/** What sessions must not see. */
export interface Hidden {
  /** Paths from which on down nothing is the host's. */
  directories: readonly string[];
  /** The directories, and the filesystems that are mounted in them. */
  places: readonly Place[];
}

/** Filesystems with files of their own; others show the kernel, memory or somebody's images. */
const REAL_TYPES = new Set(
  ["ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "bcachefs", "jfs", "reiserfs"].concat([
    "vfat",
    "exfat",
    "ntfs",
    "ntfs3",
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "ceph",
  ]),
);

/** Kernel interfaces and run-time state: a session has its own. */
const OWN_DIRECTORIES = ["/proc", "/sys", "/dev", "/run"];

/** Each one costs time in every dump; machines that run containers have hundreds. */
const HOST_MOUNTS_MAX = 16;

/** CRIU's options for mounts have no way to write these. */
const UNUSABLE_IN_OPTION = /[[\]:\p{Cc}]/u;

/** Tells whether CRIU can be told of a mount at this path. */
export function isNameableMount(mountPoint: string): boolean {
  return !UNUSABLE_IN_OPTION.test(mountPoint);
}

/** Returns the mount points that a session on the host's root shows, outer ones first. */
export function selectHostMounts(
  mounts: readonly MountEntry[],
  { directories, places }: Hidden,
): string[] {
  const hidden = [...OWN_DIRECTORIES, ...directories];
  const selected = mounts.filter(
    (candidate) =>
      candidate.mountPoint !== "/" &&
      REAL_TYPES.has(candidate.type) &&
      isNameableMount(candidate.mountPoint) &&
      !hidden.some((directory) => isBelow(candidate.mountPoint, directory)) &&
      !places.some(
        ({ device, path: at }) => device === candidate.device && isBelow(candidate.root, at),
      ) &&
      !isBoundOntoItself(candidate, mounts) &&
      !isCovered(candidate, mounts),
  );
  return selected
    .map(({ mountPoint }) => mountPoint)
    .toSorted((one, other) => depthOf(one) - depthOf(other) || (one < other ? -1 : 1))
    .slice(0, HOST_MOUNTS_MAX);
}

/** Tells whether a path is a directory or lies below it. */
export function isBelow(insidePath: string, directory: string): boolean {
  const prefix = directory === "/" ? directory : `${directory}/`;
  return insidePath === directory || insidePath.startsWith(prefix);
}

/** It shows what would be there without it, as the directories of other Waypoints do. */
function isBoundOntoItself(candidate: MountEntry, mounts: readonly MountEntry[]): boolean {
  const parent = mounts.find(({ id }) => id === candidate.parentId);
  if (parent === undefined || parent.device !== candidate.device) return false;
  const inside = path.relative(parent.mountPoint, candidate.mountPoint);
  return path.join(parent.root, inside) === candidate.root;
}

/** Another mount lies over it, or over a directory on the way to it. */
function isCovered(candidate: MountEntry, mounts: readonly MountEntry[]): boolean {
  const isStackedUpon = mounts.some(
    ({ parentId, mountPoint }) => parentId === candidate.id && mountPoint === candidate.mountPoint,
  );
  return isStackedUpon || isCutOff(candidate, mounts);
}

function isCutOff(candidate: MountEntry, mounts: readonly MountEntry[]): boolean {
  const hasCover = mounts.some(
    ({ id, parentId, mountPoint }) =>
      id !== candidate.id &&
      parentId === candidate.parentId &&
      isBelow(candidate.mountPoint, mountPoint),
  );
  const parent = mounts.find(({ id }) => id === candidate.parentId);
  return hasCover || (parent !== undefined && isCutOff(parent, mounts));
}

function depthOf(mountPoint: string): number {
  return mountPoint.split("/").length;
}
