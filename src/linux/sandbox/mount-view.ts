import { existsSync, lstatSync, mkdirSync, rmdirSync } from "node:fs";
import path from "node:path";
import { WaypointError } from "../../shared/errors/index.ts";
import { MS_NODEV, MS_NOSUID, MS_RDONLY, mount, unmount } from "../kernel/index.ts";

const VIEWS_DIR = "/run/waypoint/views";

/** One overlay of a view: what is captured of it, what it lies over, and where it is mounted. */
export interface ViewLayer {
  upperDir: string;
  baseDir: string;
  /** "/" for the root, which comes first. */
  mountPath: string;
}

/**
 * Mounts files that were captured such that they can only be read: no devices, no set-user-id. It is
 * seen in the daemon's own mount namespace.
 *
 * **On failure** nothing is mounted.
 *
 * @param source  what the list of mounts has as its source.
 * @throws SANDBOX_FAILED
 */
export function mountView(id: string, layers: readonly ViewLayer[], source: string): string {
  const viewDir = path.join(VIEWS_DIR, id);
  mkdirSync(viewDir, { recursive: true, mode: 0o700 });
  try {
    for (const layer of layers) mountLayer(viewDir, layer, source);
    return viewDir;
  } catch (cause) {
    unmountView(id);
    throw new WaypointError("SANDBOX_FAILED", "The captured files could not be mounted.", {
      hint: "The kernel's log (`dmesg`) may say why; `waypoint cp` needs no mount.",
      detail: { reason: String(cause) },
      cause,
    });
  }
}

/** Unmounts a view here; what it was copied to elsewhere stays. */
export function unmountView(id: string): void {
  const viewDir = path.join(VIEWS_DIR, id);
  if (!existsSync(viewDir)) return;
  try {
    unmount(viewDir);
  } catch {
    // Its first layer was not mounted.
  }
  rmdirSync(viewDir);
}

function mountLayer(
  viewDir: string,
  { upperDir, baseDir, mountPath }: ViewLayer,
  source: string,
): void {
  const target = path.join(viewDir, mountPath);
  // What the session made of its mount point may be a link that leads out of the view.
  if (mountPath !== "/" && !isPlainDirectory(viewDir, mountPath)) return;
  const layers = [upperDir, baseDir].map((directory) => directory.replace(/[\\:,]/g, "\\$&"));
  const flags = MS_RDONLY | MS_NOSUID | MS_NODEV;
  mount(source, target, "overlay", flags, `lowerdir=${layers.join(":")}`);
}

function isPlainDirectory(viewDir: string, mountPath: string): boolean {
  let directory = viewDir;
  return mountPath
    .split("/")
    .filter(Boolean)
    .every((name) => {
      directory = path.join(directory, name);
      return lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() ?? false;
    });
}
