import { mkdirSync, readFileSync } from "node:fs";
import { type MountEntry, parseMountInfo } from "../../formats/proc/index.ts";
import { MS_NODEV, MS_NOEXEC, MS_NOSUID, MS_RDONLY, mount, unmount } from "../kernel/index.ts";
import { type Hidden, selectHostMounts } from "./select-mounts.ts";

const PROBE_DIR = "/run/waypoint/probe";

const FLAGS: Readonly<Record<string, number>> = {
  ro: MS_RDONLY,
  nosuid: MS_NOSUID,
  nodev: MS_NODEV,
  noexec: MS_NOEXEC,
};

/**
 * Finds the host's mounts of real filesystems that a session on the host's root gets a copy of.
 *
 * The daemon's mount namespace is a copy of the host's from when it was made: what the host has
 * mounted since is not seen. A filesystem that cannot be below an overlay (vfat) is left out.
 *
 * @param hidden  nothing from there on down is the host's: it holds Waypoint's own mounts.
 */
export function findHostMounts(hidden: Hidden): string[] {
  return selectHostMounts(readMounts(), hidden).filter(canBeLower);
}

/** Returns the flags of the mount at a path, to be given to a copy of it; `null` without one. */
export function mountFlags(mountPoint: string): number | null {
  const found = readMounts().findLast((candidate) => candidate.mountPoint === mountPoint);
  if (found === undefined) return null;
  return found.options.reduce((flags, option) => flags | (FLAGS[option] ?? 0), 0);
}

function readMounts(): MountEntry[] {
  return parseMountInfo(readFileSync("/proc/self/mountinfo", "utf8"));
}

/** The kernel's own answer: an overlay of two lower directories needs nothing that is written. */
function canBeLower(mountPoint: string): boolean {
  const emptyDir = `${PROBE_DIR}/empty`;
  const target = `${PROBE_DIR}/merged`;
  for (const directory of [emptyDir, target]) mkdirSync(directory, { recursive: true });
  try {
    const lower = mountPoint.replace(/[\\:,]/g, (character) => `\\${character}`);
    mount("overlay", target, "overlay", MS_RDONLY, `lowerdir=${lower}:${emptyDir}`);
  } catch {
    return false;
  }
  unmount(target);
  return true;
}
