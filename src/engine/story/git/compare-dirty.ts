import { isAtOrBelow, type RawPath } from "../../../base/index.ts";
import type { IndexEntry } from "../../../formats/git/index.ts";
import type { Pace, RawChange } from "../../moment/index.ts";
import type { GitRepository } from "../../repository/index.ts";
import { WorkTree } from "./work-tree.ts";

/** A repository at two moments, and what is known to have changed around it. */
export interface DirtyQuestion {
  top: RawPath;
  before: GitRepository | null;
  after: GitRepository | null;
  changes: readonly RawChange[];
  /** What the story of the first moment says, where there is one. */
  knownBefore: boolean | null;
}

/** An answer, or why there is none. */
export type DirtyAnswer = boolean | null | { unknown: string };

/**
 * Tells whether a repository was and is dirty.
 *
 * A file that nobody has touched, and of which the same is staged, is as it was: it is looked at
 * once for both moments, and not at all where it is known to have been clean.
 */
export async function compareDirty(
  question: DirtyQuestion,
  pace: Pace,
): Promise<{ before: DirtyAnswer; after: DirtyAnswer }> {
  const { top, before, after, changes, knownBefore } = question;
  const touched = new TouchedFiles(top, changes);
  if (!touched.hasAny && before !== null && after !== null) {
    const same = knownBefore ?? (await answer(() => ask(after, () => true, pace)));
    return { before: same, after: same };
  }
  const entriesBefore = before === null ? null : await answer(() => stagedIn(before));
  const staged = entriesBefore instanceof Map ? entriesBefore : null;
  const isUntouched = (entry: IndexEntry) =>
    staged !== null && isSameEntry(staged.get(entry.path), entry) && !touched.has(entry.path);
  const isCleanBefore = knownBefore === false;
  const answerAfter =
    after === null
      ? null
      : await answer(() => ask(after, (entry) => !isCleanBefore || !isUntouched(entry), pace));
  if (before === null || knownBefore !== null) {
    return { before: before === null ? null : knownBefore, after: answerAfter };
  }
  // What makes nothing dirty afterwards, and was not touched, made nothing dirty before.
  const skips = answerAfter === false && after !== null;
  const stagedAfter = skips ? await stagedIn(after) : null;
  const isSettled = (entry: IndexEntry) =>
    stagedAfter !== null &&
    isSameEntry(stagedAfter.get(entry.path), entry) &&
    !touched.has(entry.path);
  return {
    before: await answer(() => ask(before, (entry) => !isSettled(entry), pace)),
    after: answerAfter,
  };
}

async function ask(
  repository: GitRepository,
  isAsked: (entry: IndexEntry) => boolean,
  pace: Pace,
): Promise<boolean> {
  const tree = await WorkTree.open(repository);
  return (await tree.isStaged()) || (await tree.differs(tree.entries.filter(isAsked), pace));
}

async function stagedIn(repository: GitRepository): Promise<Map<RawPath, IndexEntry>> {
  const { entries } = await WorkTree.open(repository);
  return new Map(entries.map((entry) => [entry.path, entry]));
}

async function answer<T>(question: () => Promise<T>): Promise<T | { unknown: string }> {
  try {
    return await question();
  } catch (error) {
    return { unknown: error instanceof Error ? error.message : String(error) };
  }
}

function isSameEntry(one: IndexEntry | undefined, other: IndexEntry): boolean {
  return (
    one !== undefined &&
    one.id === other.id &&
    one.mode === other.mode &&
    one.sizeBytes === other.sizeBytes &&
    one.mtimeSeconds === other.mtimeSeconds &&
    one.mtimeNanoseconds === other.mtimeNanoseconds
  );
}

/** The files below a directory that changed, or that a move of a directory has taken along. */
class TouchedFiles {
  readonly #paths = new Set<RawPath>();
  readonly #moved = new Set<RawPath>();
  readonly #top: RawPath;

  constructor(top: RawPath, changes: readonly RawChange[]) {
    this.#top = top === "/" ? "/" : `${top}/`;
    for (const { path, from, before, after } of changes) {
      const isDirectory = (after ?? before)?.directory != null;
      for (const each of from === null ? [path] : [path, from]) {
        if (!isAtOrBelow(each, top) && !isAtOrBelow(top, each)) continue;
        this.#paths.add(each);
        if (from !== null && isDirectory) this.#moved.add(each);
      }
    }
  }

  get hasAny(): boolean {
    return [...this.#paths].some((each) => each.startsWith(this.#top)) || this.#moved.size > 0;
  }

  has(relative: RawPath): boolean {
    const whole = this.#top + relative;
    if (this.#paths.has(whole)) return true;
    if (this.#moved.size === 0) return false;
    for (let end = whole.lastIndexOf("/"); end > 0; end = whole.lastIndexOf("/", end - 1)) {
      if (this.#moved.has(whole.slice(0, end))) return true;
    }
    return false;
  }
}
