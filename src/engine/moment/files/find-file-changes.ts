import {
  fromText,
  isAtOrBelow,
  isSystemError,
  joinRaw,
  knownStateDirs,
  type RawPath,
} from "../../../base/index.ts";
import type { SubvolumeChanges } from "../../../linux/store/index.ts";
import { WaypointError } from "../../../shared/errors/index.ts";
import type { MomentPair, ReadContext } from "../compare-context.ts";
import { type Moment, openCheckpoint } from "../moment.ts";
import { nearestAncestor } from "../nearest-ancestor.ts";
import { Pace } from "../pace.ts";
import type { ReadingEngine } from "../reading-engine.ts";
import { TreeComparison } from "./compare-trees.ts";
import { findCopiedMoves } from "./find-copied-moves.ts";
import type { MomentFiles } from "./moment-files.ts";
import type { RawChange } from "./raw-change.ts";
import { touchedBelow } from "./touched-paths.ts";

/** What Waypoint itself keeps in a session. */
const OWN_DIR = "/run/waypoint";
/** Names by which CRIU keeps deleted files that are open, at the instant of the snapshot. */
const LINK_REMAP = /\/link_remap\.\d+$/;

/** One overlay of a session: its root's, or that of one of the host's other mounts. */
interface Layer {
  /** Where it is mounted in the session. */
  mountPath: RawPath;
  /** Its upper directory in the subvolume. */
  prefix: string;
  baseDir: string;
}

/** The files of both moments. */
export interface BothFiles {
  from: MomentFiles;
  to: MomentFiles;
}

/** What was found, and where nothing could be. */
export interface FoundChanges {
  changes: RawChange[];
  unknown: Record<string, string>;
}

/**
 * Finds every path that differs between two moments, as the session sees it.
 *
 * A copy of a host's mount that cannot be compared is unknown; the rest is told.
 *
 * @param files  holds the trees open: what was found can be read until they are disposed of.
 * @throws STORE_FAILED | USAGE_INVALID  they do not stand on the same base.
 */
export async function findFileChanges(
  pair: MomentPair,
  { engine, signal }: Pick<ReadContext, "engine" | "signal">,
  files: BothFiles,
): Promise<FoundChanges> {
  requireSameBase(pair);
  const pace = new Pace(signal);
  const { changes, sharedInodeMax } = await compareSubvolumes(pair, engine, signal);
  const { layers, unknown } = layersOf(pair);
  const found: RawChange[] = [];
  for (const layer of layers) {
    const guide = { ...changes, sharedInodeMax, ...guideOf(changes, layer.prefix) };
    if (guide.before.children.size + guide.after.children.size === 0) continue;
    const isHidden = hiddenPaths(layer, pair, engine);
    try {
      const before = files.from.tree(layer.prefix, layer.baseDir);
      const after = files.to.tree(layer.prefix, layer.baseDir);
      const trees = { from: before, to: after, changes: guide, isHidden, pace };
      for (const change of await new TreeComparison(trees).run())
        if (!isOwnCover(change)) found.push(placeIn(layer, change));
    } catch (error) {
      if (layer.mountPath === "/" || !isSystemError(error, "ENOENT", "ENOTDIR")) throw error;
      unknown[`files in ${layer.baseDir}`] = "the host's mount is gone";
    }
  }
  return { changes: await findCopiedMoves(found, pace), unknown };
}

/** Compares the subvolumes, and finds up to which number inodes are the same in both. */
async function compareSubvolumes(
  { from, to }: MomentPair,
  engine: ReadingEngine,
  signal: AbortSignal,
) {
  await using ancestor = await openAncestor({ from, to }, engine);
  const ancestorPath = ancestor?.subvolumePath ?? null;
  const paths = { fromPath: from.subvolumePath, toPath: to.subvolumePath, ancestorPath };
  const { snapshots } = engine.store;
  const changes = await snapshots.compare(paths, signal);
  return {
    changes,
    sharedInodeMax: ancestorPath === null ? 0 : snapshots.highestInode(ancestorPath),
  };
}

/** Opens the newest moment that both descend from, perhaps one of them; `null` without a known one. */
async function openAncestor(
  pair: MomentPair,
  engine: ReadingEngine,
): Promise<(Pick<Moment, "subvolumePath"> & AsyncDisposable) | null> {
  const row = nearestAncestor(pair, engine.catalog);
  if (row === null) return null;
  const itself = [pair.from, pair.to].find(({ checkpoint }) => checkpoint?.id === row.id);
  // Damage to the store costs time here, not the answer.
  if (itself === undefined) return await openCheckpoint(row, engine).catch(() => null);
  return { subvolumePath: itself.subvolumePath, [Symbol.asyncDispose]: async () => {} };
}

function requireSameBase({ from, to }: MomentPair): void {
  if (from.origin.base === to.origin.base) return;
  throw new WaypointError(
    "USAGE_INVALID",
    `Their files stand on different bases, ${from.origin.base} and ${to.origin.base}.`,
  );
}

/** The overlays that both have at the same place; of the others nobody can tell what differs. */
function layersOf({ from, to }: MomentPair): { layers: Layer[] } & Pick<FoundChanges, "unknown"> {
  const layers = [{ mountPath: "/", prefix: "upper", baseDir: from.baseDir }];
  const unknown: Record<string, string> = {};
  const [ours, theirs] = [from.origin.hostMounts, to.origin.hostMounts];
  for (const hostMount of new Set([...ours, ...theirs])) {
    const number = ours.indexOf(hostMount);
    if (number !== -1 && theirs[number] === hostMount) {
      const prefix = `mounts/${number}/upper`;
      layers.push({ mountPath: fromText(hostMount), prefix, baseDir: hostMount });
    } else unknown[`files in ${hostMount}`] = "the two do not have the same copy of it";
  }
  return { layers, unknown };
}

/** Returns what to leave out of a layer: other things are mounted over it, or it is our own. */
function hiddenPaths(
  { mountPath, baseDir }: Layer,
  { from, to }: MomentPair,
  { sandbox, settings }: ReadingEngine,
): (inLayer: RawPath) => boolean {
  const known = sandbox.findHidden(knownStateDirs(settings.layout.stateDir));
  const covered = sandbox.hiddenBelow(baseDir, known);
  const mounted = [from, to].flatMap(({ origin }) => [
    ...origin.binds.map(({ target }) => target),
    ...origin.hostMounts,
  ]);
  const others = mounted.map(fromText).filter((at) => at !== mountPath);
  const below = others.filter((at) => isAtOrBelow(at, mountPath));
  const hidden = [
    ...new Set([
      OWN_DIR,
      ...covered.map((inside) => inSession(mountPath, fromText(`/${inside}`))),
      ...below,
    ]),
  ];
  return (inLayer) => {
    const whole = inSession(mountPath, inLayer);
    return LINK_REMAP.test(whole) || hidden.some((directory) => isAtOrBelow(whole, directory));
  };
}

/** What covered a state directory when the session began, and that directory is gone by now. */
function isOwnCover({ change, after }: RawChange): boolean {
  return change === "added" && after?.directory?.isCover === true;
}

function guideOf(changes: SubvolumeChanges, prefix: string) {
  const start = `${prefix}/`;
  const moved = new Map<RawPath, RawPath>();
  for (const [after, before] of changes.moved) {
    if (!after.startsWith(start) || !before.startsWith(start)) continue;
    moved.set(after.slice(prefix.length), before.slice(prefix.length));
  }
  return {
    before: touchedBelow(changes.before, prefix),
    after: touchedBelow(changes.after, prefix),
    moved,
  };
}

function placeIn({ mountPath }: Layer, change: RawChange): RawChange {
  if (mountPath === "/") return change;
  const { path: at, from } = change;
  return {
    ...change,
    path: inSession(mountPath, at),
    from: from === null ? null : inSession(mountPath, from),
  };
}

function inSession(mountPath: RawPath, inLayer: RawPath): RawPath {
  return inLayer === "/" ? mountPath : joinRaw(mountPath, inLayer.slice(1));
}
