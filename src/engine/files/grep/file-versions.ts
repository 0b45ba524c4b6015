import { setImmediate as nextTurn } from "node:timers/promises";
import { fromText, isAtOrBelow, joinRaw, type RawPath } from "../../../base/index.ts";
import {
  findFileChanges,
  type Moment,
  MomentFiles,
  openMoment,
  type TreeEntry,
} from "../../moment/index.ts";
import type { Engine } from "../../ports/index.ts";
import type { Searched } from "./select-checkpoints.ts";

/** What Waypoint itself keeps in a session. */
const OWN_DIR = "/run/waypoint";
/** Entries looked at before the rest of the daemon has a turn. */
const ENTRIES_PER_TURN = 200;

/** A version of a file that a checkpoint is the first to have. */
export interface FileVersion {
  rawPath: RawPath;
  entry: TreeEntry;
}

/** What a checkpoint has that the one before it had not, and where something else is since. */
export interface NewVersions {
  versions: FileVersion[];
  /** Paths where something was changed, removed or moved away. */
  touched: RawPath[];
  /** Directories that were moved away with all that is in them. */
  moved: RawPath[];
  unknown: Record<string, string>;
}

/**
 * Calls `use` with the versions of files that are new in a checkpoint; their paths on the host are
 * good meanwhile. Of the first one that is all that its session had changed of its base.
 *
 * @throws CHECKPOINT_INCOMPLETE  it was removed.
 */
export async function withNewVersions(
  { row, before }: Searched,
  { engine, signal }: { engine: Engine; signal: AbortSignal },
  use: (found: NewVersions) => Promise<void>,
): Promise<void> {
  await using to = await openMoment({ checkpoint: row }, engine);
  using files = new MomentFiles(to);
  if (before === null) {
    const versions: FileVersion[] = [];
    for await (const each of walkCaptured(to, files, signal)) versions.push(each);
    const touched = versions.map(({ rawPath }) => rawPath);
    return await use({ versions, touched, moved: [], unknown: {} });
  }
  await using from = await openMoment({ checkpoint: before }, engine);
  using filesBefore = new MomentFiles(from);
  const pair = { from, to };
  const both = { from: filesBefore, to: files };
  const { changes, unknown } = await findFileChanges(pair, { engine, signal }, both);
  const found: NewVersions = { versions: [], touched: [], moved: [], unknown };
  for (const { change, path: rawPath, from: earlier, after, what } of changes) {
    found.touched.push(rawPath, ...(earlier === null ? [] : [earlier]));
    if (earlier !== null && after?.type === "directory") found.moved.push(earlier);
    const isSame = change === "modified" && !what.includes("content") && !what.includes("type");
    if (isSame || !isCapturedFile(after)) continue;
    found.versions.push({ rawPath, entry: after });
  }
  await use(found);
}

/** Walks what a session has written, without what its base has anyway. */
async function* walkCaptured(
  moment: Moment,
  files: MomentFiles,
  signal: AbortSignal,
): AsyncGenerator<FileVersion> {
  const mounts = moment.origin.hostMounts.map(fromText);
  const waiting: RawPath[] = ["/", ...mounts];
  const isElsewhere = (rawPath: RawPath) => rawPath === OWN_DIR || mounts.includes(rawPath);
  let looked = 0;
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const found = files.directory(at);
    if (found === null || found.directory.upper === null) continue;
    for (const name of found.tree.names(found.directory)) {
      looked += 1;
      if (looked % ENTRIES_PER_TURN === 0) {
        await nextTurn();
        signal.throwIfAborted();
      }
      const rawPath = joinRaw(at, name);
      const entry = found.tree.child(found.directory, name);
      if (entry?.directory?.upper != null && !isElsewhere(rawPath)) waiting.push(rawPath);
      if (isCapturedFile(entry)) yield { rawPath, entry };
    }
  }
}

function isCapturedFile(entry: TreeEntry | null): entry is TreeEntry {
  return entry?.type === "file" && entry.upperInode !== null && entry.sizeBytes > 0;
}

/** Returns a filter of paths by a glob: of the name alone, or of the whole path if it has a slash. */
export function pathFilter(
  glob: string | undefined,
  matches: (path: string, glob: string) => boolean,
): (path: string) => boolean {
  if (glob === undefined) return () => true;
  const plain = glob.length > 1 ? glob.replace(/\/$/, "") : glob;
  return (path) => {
    if (!plain.includes("/")) return matches(path.slice(path.lastIndexOf("/") + 1), plain);
    return matches(path, plain) || isAtOrBelow(path, plain);
  };
}
