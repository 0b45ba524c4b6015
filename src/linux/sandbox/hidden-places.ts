import { closeSync, constants, openSync, readFileSync, readlinkSync } from "node:fs";
import path from "node:path";
import { type MountEntry, parseMountInfo } from "../../formats/proc/index.ts";
import { type Hidden, isBelow, type Place } from "./select-mounts.ts";

/** Directories of the host's root of which a session shows nothing. */
export const COVERED_DIRS = ["dev", "run"];

/** Opens without reading; Node has no name for it. */
const O_PATH = 0o10000000;

/**
 * Finds what sessions must not see of state directories; one that is not there hides nothing.
 *
 * A filesystem mounted in one, such as the store, is hidden wherever else it is mounted.
 */
export function findHidden(stateDirs: readonly string[]): Hidden {
  const mounts = readMounts();
  const found = stateDirs.flatMap((stateDir) => locate(stateDir, mounts) ?? []);
  const directories = [...new Set(found.map(({ realPath }) => realPath))];
  const mounted = mounts
    .filter(({ mountPoint }) => directories.some((each) => isBelow(mountPoint, each)))
    .map(({ device, root }) => ({ device, path: root }));
  return { directories, places: [...found.map(({ place }) => place), ...mounted] };
}

/** Tells whether a directory is hidden, or lies in what is. */
export function isHidden(directory: string, { places }: Hidden): boolean {
  const place = locate(directory, readMounts())?.place;
  return place !== undefined && places.some((hidden) => isWithin(place, hidden));
}

/**
 * Tells whether a session on the host's own root shows a directory of the host: what lies on the
 * root's filesystem or on a mount that it has a copy of, and is not hidden or covered.
 */
export function isShownInSession(
  directory: string,
  hidden: Hidden,
  hostMounts: readonly string[],
): boolean {
  const found = locate(directory, readMounts());
  if (found === null || found.realPath !== directory || isHidden(directory, hidden)) return false;
  if (COVERED_DIRS.some((name) => isBelow(directory, `/${name}`))) return false;
  return found.mountPoint === "/" || hostMounts.includes(found.mountPoint);
}

/** Returns the paths, relative to a directory, at which its filesystem shows what is hidden. */
export function hiddenBelow(directory: string, { places }: Hidden): string[] {
  const place = locate(directory, readMounts())?.place;
  if (place === undefined) return [];
  const inside = places
    .filter((hidden) => isWithin(hidden, place))
    .map((hidden) => path.relative(place.path, hidden.path))
    .filter((relative) => relative !== "");
  return [...new Set(inside)].filter(
    (relative) => !inside.some((other) => other !== relative && isBelow(relative, other)),
  );
}

/** Tells whether one place is the other or lies below it. */
export function isWithin(one: Place, other: Place): boolean {
  return one.device === other.device && isBelow(one.path, other.path);
}

/** Follows links, and asks the kernel which mount the directory is on: others may lie over its path. */
function locate(
  directory: string,
  mounts: readonly MountEntry[],
): { realPath: string; mountPoint: string; place: Place } | null {
  let fd: number;
  try {
    fd = openSync(directory, O_PATH | constants.O_DIRECTORY);
  } catch {
    return null;
  }
  try {
    const realPath = readlinkSync(`/proc/self/fd/${fd}`);
    const mountId = Number(
      /^mnt_id:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1],
    );
    const mount = mounts.find(({ id }) => id === mountId);
    if (mount === undefined) return null;
    const inside = path.relative(mount.mountPoint, realPath);
    const { mountPoint } = mount;
    return {
      realPath,
      mountPoint,
      place: { device: mount.device, path: path.join(mount.root, inside) },
    };
  } finally {
    closeSync(fd);
  }
}

function readMounts(): MountEntry[] {
  return parseMountInfo(readFileSync("/proc/self/mountinfo", "utf8"));
}
