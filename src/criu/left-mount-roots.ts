import { readdir, rmdir } from "node:fs/promises";
import { join } from "node:path";

/** CRIU builds a restored mount namespace in a directory of this name, and the place is fixed. */
const MOUNT_ROOTS_DIR = "/tmp";
const MOUNT_ROOT_PREFIX = ".criu.mntns.";

let underWay = 0;

/**
 * Runs a restore, and removes the directories that it left when it failed; CRIU removes them only
 * on success.
 *
 * Only while no other restore runs: the kernel lets a directory be removed in which another
 * namespace has something mounted, and takes that mount away.
 */
export async function withoutLeftMountRoots<T extends { exitCode: number | null }>(
  restore: () => Promise<T>,
): Promise<T> {
  const before = await listMountRoots();
  underWay += 1;
  try {
    const run = await restore();
    if (run.exitCode !== 0 && underWay === 1) await removeNewMountRoots(before);
    return run;
  } finally {
    underWay -= 1;
  }
}

/** Lists the directories in which some CRIU builds, or built, a mount namespace. */
async function listMountRoots(): Promise<Set<string>> {
  const names = await readdir(MOUNT_ROOTS_DIR).catch(() => []);
  return new Set(names.filter((name) => name.startsWith(MOUNT_ROOT_PREFIX)));
}

/** @param before  those that were there already: they may be in use by another CRIU. */
async function removeNewMountRoots(before: ReadonlySet<string>): Promise<void> {
  for (const name of await listMountRoots()) {
    if (before.has(name)) continue;
    // Not empty or gone: then it is another CRIU's, which removes it itself.
    await rmdir(join(MOUNT_ROOTS_DIR, name)).catch(() => {});
  }
}
