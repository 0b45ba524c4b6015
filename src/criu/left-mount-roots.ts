import { readdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { isCriuRestoring } from "./running-criu.ts";

/** CRIU builds a restored mount namespace in a directory of this name, and the place is fixed. */
const MOUNT_ROOTS_DIR = "/tmp";
const MOUNT_ROOT_PREFIX = ".criu.mntns.";

/** Left by restores that failed; not removed yet, since another CRIU restored. */
const left = new Set<string>();

/**
 * Runs a restore, and removes the directories that it left when it failed; CRIU removes them only
 * on success.
 *
 * Only while no CRIU restores, of whatever daemon: the directories do not say whose they are, and the
 * kernel lets one be removed in which another namespace has something mounted, and takes that mount
 * away. What cannot be removed now goes after a later restore.
 */
export async function withoutLeftMountRoots<T extends { exitCode: number | null }>(
  restore: () => Promise<T>,
): Promise<T> {
  const before = new Set(await listMountRoots());
  const run = await restore();
  if (run.exitCode !== 0) {
    for (const name of await listMountRoots()) if (!before.has(name)) left.add(name);
  }
  if (left.size > 0 && !isCriuRestoring()) await removeLeft();
  return run;
}

/** Removes what restores left that nobody has waited for, unless a CRIU restores now. */
export async function removeLeftMountRoots(): Promise<void> {
  for (const name of await listMountRoots()) left.add(name);
  if (left.size > 0 && !isCriuRestoring()) await removeLeft();
}

/** Lists the directories in which some CRIU builds, or built, a mount namespace. */
async function listMountRoots(): Promise<string[]> {
  const names = await readdir(MOUNT_ROOTS_DIR).catch(() => []);
  return names.filter((name) => name.startsWith(MOUNT_ROOT_PREFIX));
}

/** A CRIU that starts after this look makes a directory of its own, which is not among those left. */
async function removeLeft(): Promise<void> {
  for (const name of left) {
    await rmdir(join(MOUNT_ROOTS_DIR, name)).catch(() => {});
    left.delete(name);
  }
}
