import { getHeapStatistics } from "node:v8";
import { joinRaw, type RawPath } from "../../../base/index.ts";
import { WaypointError } from "../../../shared/errors/index.ts";
import type { Pace } from "../pace.ts";
import { compareEntries, type InodeFacts, type InodeOf, isSameInode } from "./compare-entries.ts";
import type { MergedDirectory, OverlayTree, TreeEntry } from "./overlay-tree.ts";
import type { RawChange } from "./raw-change.ts";
import { type TouchedPaths, touchedAt, touchedIn, UNTOUCHED } from "./touched-paths.ts";

/** What one takes while all are compared, with names of 200 characters. */
const BYTES_PER_CHANGE = 6 * 1024;
/** More than this is no difference that anyone reads; it would only fill the memory. */
const CHANGES_MAX = Math.min(
  500_000,
  Math.floor(getHeapStatistics().heap_size_limit / BYTES_PER_CHANGE),
);

/** What guides a comparison: where the two trees can differ, and what has moved. */
export interface TreeChanges extends InodeFacts {
  before: TouchedPaths;
  after: TouchedPaths;
  /** Inodes that the second has and the first has not. */
  created: ReadonlySet<number>;
  /** Path after → path before of the same inode. */
  moved: ReadonlyMap<RawPath, RawPath>;
}

/** An entry that only one of the trees has. */
interface Lone {
  path: RawPath;
  entry: TreeEntry;
}

/** Two directories that are to be compared, each with its path and what was touched in it. */
interface DirectoryPair {
  before: Side;
  after: Side;
}

interface Side {
  path: RawPath;
  directory: MergedDirectory;
  inode: InodeOf;
  touched: TouchedPaths;
}

/**
 * Compares what two overlays on the same base show, looking only where their uppers can differ.
 *
 * A path that both show is compared in place. One that came and whose inode was elsewhere, where it
 * is no more, was renamed; what changed in a renamed directory is found as well.
 */
export class TreeComparison {
  readonly #from: OverlayTree;
  readonly #to: OverlayTree;
  readonly #changes: TreeChanges;
  readonly #isHidden: (path: RawPath) => boolean;
  readonly #pace: Pace;
  readonly #found: RawChange[] = [];
  readonly #added: Lone[] = [];
  readonly #deleted: Lone[] = [];
  readonly #renamedFrom = new Set<RawPath>();

  constructor(options: {
    from: OverlayTree;
    to: OverlayTree;
    changes: TreeChanges;
    isHidden: (path: RawPath) => boolean;
    pace: Pace;
  }) {
    this.#from = options.from;
    this.#to = options.to;
    this.#changes = options.changes;
    this.#isHidden = options.isHidden;
    this.#pace = options.pace;
  }

  /** Returns every path that differs. @throws STORE_FAILED  there are too many. */
  async run(): Promise<RawChange[]> {
    const { before, after } = this.#changes;
    await this.#compareBoth(
      { path: "/", entry: this.#from.root, touched: before },
      { path: "/", entry: this.#to.root, touched: after },
      null,
    );
    // What came may turn out to be what is missing elsewhere, so that goes first.
    for (let next = this.#added.pop(); next !== undefined; next = this.#added.pop()) {
      await this.#resolveAdded(next);
    }
    for (let next = this.#deleted.pop(); next !== undefined; next = this.#deleted.pop()) {
      await this.#resolveDeleted(next);
    }
    return this.#found;
  }

  /** @param renamedFrom  path before, where it is another; then there is a change in any case. */
  async #compareBoth(
    before: Lone & { touched: TouchedPaths },
    after: Lone & { touched: TouchedPaths },
    renamedFrom: RawPath | null,
  ): Promise<void> {
    await this.#pace.yieldOften();
    const areDirectories = before.entry.directory !== null && after.entry.directory !== null;
    const isReplaced = before.entry.directory !== null || after.entry.directory !== null;
    if (isReplaced && !areDirectories) {
      this.#wait(this.#deleted, before);
      this.#wait(this.#added, after);
      return;
    }
    const what = await compareEntries(before.entry, after.entry, this.#changes, {
      ...{ pace: this.#pace, calls: this.#to.calls },
    });
    if (renamedFrom !== null || what.length > 0) {
      const change = renamedFrom === null ? "modified" : "renamed";
      this.#note({
        ...{ change, path: after.path, from: renamedFrom, what },
        ...{ before: before.entry, after: after.entry },
      });
    }
    if (areDirectories) {
      await this.#compareDirectories({ before: sideOf(before), after: sideOf(after) });
    }
  }

  async #compareDirectories(pair: DirectoryPair): Promise<void> {
    for (const name of this.#namesToCompare(pair)) {
      await this.#pace.yieldOften();
      const before = this.#lookIn(this.#from, pair.before, name);
      const after = this.#lookIn(this.#to, pair.after, name);
      if (before === null) {
        if (after !== null) this.#wait(this.#added, after);
      } else if (after === null) this.#wait(this.#deleted, before);
      else await this.#compareBoth(before, after, null);
    }
  }

  /** The touched names, where all others are the same; else every name. */
  #namesToCompare({ before, after }: DirectoryPair): Iterable<RawPath> {
    const isSameBase =
      this.#from.relativeBase(before.directory) === this.#to.relativeBase(after.directory);
    const isSameUpper = isSameInode(before.inode, after.inode, this.#changes);
    const [one, other] = [before.inode.upperInode, after.inode.upperInode];
    const isCopiedUp = one === null && other !== null && this.#changes.created.has(other);
    const isOfBase = one === null && other === null;
    if (isSameBase && (isSameUpper || isCopiedUp || isOfBase)) {
      return new Set([...before.touched.children.keys(), ...after.touched.children.keys()]);
    }
    const names = this.#from.namesIn(before.directory);
    for (const name of this.#to.namesIn(after.directory)) names.add(name);
    return names;
  }

  #lookIn(tree: OverlayTree, side: Side, name: RawPath): (Lone & { touched: TouchedPaths }) | null {
    const path = joinRaw(side.path, name);
    if (this.#isHidden(path)) return null;
    const entry = tree.child(side.directory, name);
    return entry === null ? null : { path, entry, touched: touchedIn(side.touched, name) };
  }

  async #resolveAdded(added: Lone): Promise<void> {
    await this.#pace.yieldOften();
    const source = this.#findSource(added);
    if (source !== null) {
      this.#renamedFrom.add(source.path);
      const { before, after } = this.#changes;
      await this.#compareBoth(
        { ...source, touched: touchedAt(before, source.path) },
        { ...added, touched: touchedAt(after, added.path) },
        source.path,
      );
      return;
    }
    const { path, entry } = added;
    this.#note({ change: "added", path, from: null, before: null, after: entry, what: [] });
    await this.#addChildren(this.#added, this.#to, added);
  }

  /** Finds what an entry was before it came here, if that is where it was no more. */
  #findSource({ path, entry }: Lone): Lone | null {
    const from = entry.upperInode === null ? undefined : this.#changes.moved.get(path);
    if (from === undefined || this.#renamedFrom.has(from) || this.#isHidden(from)) return null;
    const source = this.#from.find(from);
    if (source === null || source.type !== entry.type) return null;
    if (!isSameInode(source, entry, this.#changes)) return null;
    return this.#to.find(from) === null ? { path: from, entry: source } : null;
  }

  async #resolveDeleted(deleted: Lone): Promise<void> {
    await this.#pace.yieldOften();
    if (this.#renamedFrom.has(deleted.path)) return;
    const { path, entry } = deleted;
    this.#note({ change: "deleted", path, from: null, before: entry, after: null, what: [] });
    await this.#addChildren(this.#deleted, this.#from, deleted);
  }

  async #addChildren(waiting: Lone[], tree: OverlayTree, { path, entry }: Lone): Promise<void> {
    if (entry.directory === null) return;
    const side = { path, directory: entry.directory, inode: entry, touched: UNTOUCHED };
    for (const name of tree.namesIn(entry.directory)) {
      await this.#pace.yieldOften();
      const child = this.#lookIn(tree, side, name);
      if (child !== null) this.#wait(waiting, child);
    }
  }

  /** What waits differs, whatever it turns out to be. */
  #wait(waiting: Lone[], lone: Lone): void {
    requireRoom(waiting);
    waiting.push(lone);
  }

  #note(change: RawChange): void {
    requireRoom(this.#found);
    this.#found.push(change);
  }
}

function requireRoom({ length }: readonly unknown[]): void {
  if (length < CHANGES_MAX) return;
  const message = `More than ${CHANGES_MAX.toLocaleString("en")} paths differ.`;
  throw new WaypointError("STORE_FAILED", message);
}

function sideOf({ path, entry, touched }: Lone & { touched: TouchedPaths }): Side {
  const directory = entry.directory ?? { upper: null, base: null, hasFileWhiteouts: false };
  return { path, directory, inode: entry, touched };
}
