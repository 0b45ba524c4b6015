import { joinRaw, type RawPath, toText } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { MomentFiles, RawChange, TreeEntry } from "../moment/index.ts";

/** Names by which CRIU keeps deleted files that are open, at the instant of a snapshot. */
const LINK_REMAP = /^link_remap\.\d+$/;
const NAMED_MAX = 5;

/** What one path has now, and what it is to have; `null` for nothing. */
export interface FileAction {
  rawPath: RawPath;
  have: TreeEntry | null;
  want: TreeEntry | null;
}

/** The files as they are, and the moment that they are put back to. */
export interface ComparedFiles {
  now: MomentFiles;
  past: MomentFiles;
}

/** Returns every path that a difference is about; a directory that moved stands for all in it. */
export function touchedPaths(
  changes: readonly RawChange[],
  { from, to }: { from: MomentFiles; to: MomentFiles },
): Set<RawPath> {
  const touched = new Set<RawPath>();
  for (const change of changes) {
    touched.add(change.path);
    if (change.from === null) continue;
    touched.add(change.from);
    if ((change.after ?? change.before)?.type !== "directory") continue;
    addBelow(change.from, from, touched);
    addBelow(change.path, to, touched);
  }
  return touched;
}

/**
 * Returns what has to be done for paths to be as they were then, parents before what is in them.
 *
 * Directories on the way that are missing now come along.
 */
export function actionsFor(paths: Iterable<RawPath>, { now, past }: ComparedFiles): FileAction[] {
  const actions = new Map<RawPath, FileAction>();
  for (const rawPath of paths) {
    const action = { rawPath, have: now.find(rawPath), want: past.find(rawPath) };
    if (action.have === null && action.want === null) continue;
    actions.set(rawPath, action);
    if (action.want !== null) addMissingParents(rawPath, { now, past }, actions);
  }
  // A path is shorter than what lies below it, so it comes first.
  return [...actions.values()].sort((one, other) => (one.rawPath < other.rawPath ? -1 : 1));
}

/**
 * Makes sure that no directory would have to go for a file, or a file for a directory: that cannot
 * be done in one step.
 *
 * @throws FILE_REFUSED
 */
export function refuseOtherKinds(actions: readonly FileAction[]): void {
  const swapped = actions.filter(
    ({ have, want }) =>
      have !== null && want !== null && (have.type === "directory") !== (want.type === "directory"),
  );
  const [first] = swapped;
  if (first === undefined) return;
  const kind = (entry: TreeEntry | null) =>
    entry?.type === "directory" ? "a directory" : `a ${entry?.type.replace("-", " ")}`;
  const more = swapped.length === 1 ? "" : ` (and ${swapped.length - 1} more)`;
  throw new WaypointError(
    "FILE_REFUSED",
    `${toText(first.rawPath)} is ${kind(first.have)} now and was ${kind(first.want)} then${more}; nothing was changed.`,
    {
      hint: "Remove or move what is there now, leave it out with --except, or restore everything.",
      detail: { paths: swapped.slice(0, NAMED_MAX).map(({ rawPath }) => toText(rawPath)) },
    },
  );
}

function addMissingParents(
  rawPath: RawPath,
  { now, past }: ComparedFiles,
  actions: Map<RawPath, FileAction>,
): void {
  for (let at = parentOf(rawPath); at !== "/" && !actions.has(at); at = parentOf(at)) {
    const have = now.find(at);
    // What is no directory is found by refuseOtherKinds.
    if (have?.type === "directory") return;
    actions.set(at, { rawPath: at, have, want: past.find(at) });
  }
}

/** Returns the directory that a path is in. */
function parentOf(rawPath: RawPath): RawPath {
  const end = rawPath.lastIndexOf("/");
  return end <= 0 ? "/" : rawPath.slice(0, end);
}

function addBelow(directory: RawPath, files: MomentFiles, into: Set<RawPath>): void {
  for (const name of files.names(directory)) {
    if (LINK_REMAP.test(name)) continue;
    const path = joinRaw(directory, name);
    const entry = files.find(path);
    if (entry === null) continue;
    into.add(path);
    if (entry.type === "directory") addBelow(path, files, into);
  }
}
