import path from "node:path";
import { fromText, joinRaw, type RawPath } from "../../../base/index.ts";
import type { BothFiles, Pace, RawChange } from "../../moment/index.ts";
import { findGitPlaces, findWorktree } from "../../repository/index.ts";

const IN_REPOSITORY = /^(.*?)\/\.git(?:\/(?:worktrees\/([^/]+)\/)?|$)/;
/** More repositories are not looked at. */
const REPOSITORIES_MAX = 50;
/** A directory with more names has no list of repositories that anyone reads. */
const NAMES_MAX = 200;

/** The repositories to look at, by their top directory. */
export interface FoundRepositories {
  /** In these something has changed. */
  changed: Set<RawPath>;
  /** These are told in any case: the shell is in them, or they lie right below it. */
  around: Set<RawPath>;
  /** The one that the shell is in. */
  inside: RawPath | null;
}

/** Finds the repositories that changed, and those around a directory, without searching a tree. */
export async function findRepositories(
  changes: readonly RawChange[],
  cwd: string | null,
  files: BothFiles,
  pace: Pace,
): Promise<FoundRepositories> {
  const changed = new Set<RawPath>();
  for (const change of changes) {
    await pace.yieldOften();
    for (const at of [change.path, change.from ?? change.path]) {
      const [, top, worktree] = IN_REPOSITORY.exec(at) ?? [];
      if (top === undefined || changed.size >= REPOSITORIES_MAX) continue;
      changed.add(top === "" ? "/" : top);
      if (worktree !== undefined) await addWorktree(changed, files, `${top}/.git`, worktree);
    }
  }
  const inside = cwd === null ? null : await findInside(files, fromText(cwd));
  const below = cwd === null ? [] : await findBelow(files, fromText(cwd));
  return { changed, around: new Set([...(inside === null ? [] : [inside]), ...below]), inside };
}

async function addWorktree(
  changed: Set<RawPath>,
  files: BothFiles,
  commonDir: RawPath,
  name: RawPath,
): Promise<void> {
  for (const side of [files.to, files.from]) {
    const top = await findWorktree(side, commonDir, name);
    if (top !== null) changed.add(top);
  }
}

async function findInside({ to }: BothFiles, cwd: RawPath): Promise<RawPath | null> {
  for (let at = cwd; ; at = path.posix.dirname(at)) {
    if ((await findGitPlaces(to, at)) !== null) return at;
    if (at === "/") return null;
  }
}

/** What is hidden there belongs to some program, not to whoever works there. */
async function findBelow({ to }: BothFiles, cwd: RawPath): Promise<RawPath[]> {
  const names = to.names(cwd).filter((name) => !name.startsWith("."));
  const found: RawPath[] = [];
  if (names.length > NAMES_MAX) return found;
  for (const name of names) {
    const below = joinRaw(cwd, name);
    if (found.length >= REPOSITORIES_MAX) break;
    if ((await findGitPlaces(to, below)) !== null) found.push(below);
  }
  return found;
}
