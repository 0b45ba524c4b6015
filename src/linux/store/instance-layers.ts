import { existsSync, mkdirSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import path from "node:path";

/** The layers of one overlay. */
export interface LayerPaths {
  upperDir: string;
  workDir: string;
}

/** Where the files of a live instance lie: the layers of its root, and those of other overlays. */
export interface InstancePaths extends LayerPaths {
  subvolumePath: string;
  /** Absent where there is no other overlay. */
  mountsDir: string;
}

export function instancePathsOf(subvolumePath: string): InstancePaths {
  return {
    subvolumePath,
    ...layersIn(subvolumePath),
    mountsDir: path.join(subvolumePath, "mounts"),
  };
}

export function layerPathsOf({ mountsDir }: InstancePaths, number: number): LayerPaths {
  return layersIn(path.join(mountsDir, String(number)));
}

/**
 * Returns where a path of an instance's subvolume is inside its session, null where it is not there.
 *
 * @param mountPoints  of the other overlays, in their order
 */
export function insidePathOf(subvolumePath: string, mountPoints: readonly string[]): string | null {
  const match = /^(?:mounts\/(\d+)\/)?upper(\/.+)$/s.exec(subvolumePath);
  const mountPoint = match?.[1] === undefined ? "" : mountPoints[Number(match[1])];
  return match === null || mountPoint === undefined ? null : mountPoint + match[2];
}

/** Makes the empty layers of a root and of some other overlays. */
export function makeLayers(paths: InstancePaths, mountCount: number): void {
  const others = Array.from({ length: mountCount }, (_, number) => layerPathsOf(paths, number));
  for (const layers of [paths, ...others]) makeLayersAt(layers);
}

/** Makes the empty layers of one overlay. */
export function makeLayersAt({ upperDir, workDir }: LayerPaths): void {
  mkdirSync(upperDir, { recursive: true });
  mkdirSync(workDir);
}

/** Empties the work directories of layers that were copied from elsewhere. */
export async function renewWorkDirs(paths: InstancePaths): Promise<void> {
  const { mountsDir } = paths;
  const others = existsSync(mountsDir) ? await readdir(mountsDir) : [];
  const layers = [paths, ...others.map((name) => layersIn(path.join(mountsDir, name)))];
  for (const { workDir } of layers) {
    await rm(workDir, { recursive: true, force: true });
    await mkdir(workDir);
  }
}

function layersIn(directory: string): LayerPaths {
  return { upperDir: path.join(directory, "upper"), workDir: path.join(directory, "work") };
}
