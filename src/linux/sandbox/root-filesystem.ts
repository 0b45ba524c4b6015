import { existsSync, mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import path from "node:path";
import { isSystemError } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { explainDiskError, mount, unmountAside } from "../kernel/index.ts";

/** Where the merged roots are mounted, on the tmpfs of the daemon's own mount namespace. */
const MERGED_DIR = "/run/waypoint/roots";

/** Returns where an instance's root filesystem is mounted, in the daemon's mount namespace. */
export function mergedDir(instanceId: string): string {
  return path.join(MERGED_DIR, instanceId);
}

/**
 * Mounts the overlay that is an instance's root filesystem.
 *
 * `index` and `nfs_export` make inotify watches dumpable: without them CRIU ends with
 * "fsnotify: Can't dump that handle" (docs/notes/overlayfs).
 *
 * @throws SANDBOX_FAILED  the kernel refused the mount.
 */
export function mountRoot(options: {
  instanceId: string;
  baseDir: string;
  upperDir: string;
  workDir: string;
}): string {
  const target = mergedDir(options.instanceId);
  mkdirSync(target, { recursive: true, mode: 0o700 });
  try {
    mountOverlay(target, options);
  } catch (error) {
    rmdirSync(target);
    throw error;
  }
  return target;
}

/** Mounts one overlay, in the way that keeps inotify watches dumpable. */
export function mountOverlay(
  target: string,
  options: { baseDir: string; upperDir: string; workDir: string; flags?: number },
): void {
  const { baseDir, upperDir, workDir, flags = 0 } = options;
  const layers = `lowerdir=${escapeLayer(baseDir)},upperdir=${escapeLayer(upperDir)},workdir=${escapeLayer(workDir)}`;
  try {
    mount("overlay", target, "overlay", flags, `index=on,nfs_export=on,${layers}`);
  } catch (cause) {
    const explained = explainDiskError(cause, "mount a session");
    if (explained instanceof WaypointError) throw explained;
    throw new WaypointError(
      "SANDBOX_FAILED",
      `A filesystem of the session could not be mounted over ${baseDir}.`,
      {
        hint: "The kernel's log (`dmesg`) says why; `waypoint doctor` checks overlay mounts.",
        detail: { reason: String(cause) },
        cause,
      },
    );
  }
}

/** Unmounts an instance's root filesystem and what is mounted in it; succeeds when it is not mounted. */
export async function unmountRoot(instanceId: string): Promise<void> {
  const target = mergedDir(instanceId);
  if (!existsSync(target)) return;
  try {
    await unmountAside(target);
  } catch (error) {
    if (!isSystemError(error, "EINVAL", "ENOENT")) throw error;
  }
  await rmdir(target);
}

/** Tells whether an instance's root filesystem is mounted. */
export function isRootMounted(instanceId: string): boolean {
  const needle = ` ${mergedDir(instanceId)} `;
  return readFileSync("/proc/self/mountinfo", "utf8").includes(needle);
}

/** The kernel splits the option string at commas and layers at colons unless they are escaped. */
function escapeLayer(directory: string): string {
  return directory.replace(/[\\:,]/g, (character) => `\\${character}`);
}
