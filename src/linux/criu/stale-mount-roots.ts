import { randomBytes } from "node:crypto";
import { readdir, rmdir } from "node:fs/promises";
import { join } from "node:path";

/** In the daemon's mount namespace a tmpfs of its own, which no other CRIU sees. */
const MOUNT_ROOTS_DIR = "/run";
/** With six characters more it is as long as the name that CRIU would take, and can hold. */
const MOUNT_ROOT_PREFIX = ".criu.mntns.";

/**
 * Runs a restore that builds its mount namespace in the directory that it is given the path of, and
 * removes that directory when it failed; CRIU removes it only on success.
 *
 * @param rootsDir  @defaultValue one that only this daemon sees
 */
export async function withMountRoot<T extends { exitCode: number | null }>(
  restore: (mountRoot: string) => Promise<T>,
  rootsDir: string = MOUNT_ROOTS_DIR,
): Promise<T> {
  const name = MOUNT_ROOT_PREFIX + randomBytes(3).toString("hex");
  const mountRoot = join(rootsDir, name);
  const run = await restore(mountRoot);
  if (run.exitCode !== 0) await rmdir(mountRoot).catch(() => {});
  return run;
}

/**
 * Removes what restores of the last daemon left.
 *
 * **Requires** the daemon's own mount namespace, and that no restore runs in it.
 */
export async function removeStaleMountRoots(): Promise<void> {
  const names = await readdir(MOUNT_ROOTS_DIR);
  for (const name of names.filter((each) => each.startsWith(MOUNT_ROOT_PREFIX))) {
    await rmdir(join(MOUNT_ROOTS_DIR, name)).catch(() => {});
  }
}
