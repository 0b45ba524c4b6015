import { createHash } from "node:crypto";
import { isAtOrBelow, type RawPath } from "../../../base/index.ts";
import type { Pace } from "../pace.ts";
import { linkTarget, type TreeEntry } from "./overlay-tree.ts";
import type { RawChange } from "./raw-change.ts";
import { haveSameBytes } from "./same-content.ts";

/** Bytes that are read in all to be sure that what looks like a move is one. */
const VERIFIED_BYTES_MAX = 64 * 1024 * 1024;
/** Beyond this nobody reads renames one by one. */
const CANDIDATES_MAX = 50_000;

/** One that is missing, or that has come, with what is below it. */
interface Half {
  change: RawChange;
  entry: TreeEntry;
  children: Half[];
  /** The same for two trees that look the same. */
  signature: string;
  isTaken: boolean;
}

/**
 * Finds what was moved by copying: the overlay cannot rename a directory of the base, so `mv` copies
 * it and removes the original. The copies keep names, sizes, modes, owners and times.
 *
 * @returns the changes, with a whole directory that was moved so as one rename.
 */
export async function findCopiedMoves(
  changes: readonly RawChange[],
  pace: Pace,
): Promise<RawChange[]> {
  const missing = halvesOf(changes, "deleted");
  const come = halvesOf(changes, "added");
  if (missing.length === 0 || come.length === 0) return [...changes];
  if (missing.length + come.length > CANDIDATES_MAX) return [...changes];
  const search = new MoveSearch(missing, pace);
  // A whole directory says more than one of its files that looks like another.
  const [directories, others] = [true, false].map((isDirectory) =>
    come.filter(({ entry }) => (entry.directory !== null) === isDirectory),
  ) as [Half[], Half[]];
  for (const half of [...directories, ...others]) await search.match(half);
  if (search.moves.length === 0) return [...changes];
  const taken = new Set([...missing, ...come].filter(isTaken).map(({ change }) => change));
  return [...changes.filter((change) => !taken.has(change)), ...search.moves];
}

class MoveSearch {
  readonly moves: RawChange[] = [];
  readonly #bySignature = new Map<string, Half[]>();
  readonly #pace: Pace;
  #bytesLeft = VERIFIED_BYTES_MAX;

  constructor(missing: readonly Half[], pace: Pace) {
    this.#pace = pace;
    for (const half of missing) {
      const same = this.#bySignature.get(half.signature) ?? [];
      this.#bySignature.set(half.signature, [...same, half]);
    }
  }

  /** Looks for what `half` was before; an outer directory comes before an inner one. */
  async match(half: Half): Promise<void> {
    await this.#pace.yieldOften();
    if (half.isTaken || !isTellable(half)) return;
    const candidates = (this.#bySignature.get(half.signature) ?? []).filter(isFree);
    const name = nameOf(half.change.path);
    const named = candidates.find(({ change }) => nameOf(change.path) === name);
    const source = named ?? (candidates.length === 1 ? candidates[0] : undefined);
    if (source === undefined || !(await this.#isSame(source, half))) return;
    take(source);
    take(half);
    const { path } = half.change;
    const { entry: before } = source;
    const entries = { before, after: half.entry, what: [] };
    this.moves.push({ change: "renamed", path, from: source.change.path, ...entries });
  }

  async #isSame(one: Half, other: Half): Promise<boolean> {
    for (const [index, child] of one.children.entries()) {
      const twin = other.children[index];
      if (twin === undefined || !(await this.#isSame(child, twin))) return false;
    }
    if (one.entry.type === "symlink") return linkTarget(one.entry) === linkTarget(other.entry);
    if (one.entry.type !== "file") return true;
    this.#bytesLeft -= one.entry.sizeBytes;
    const whole = [{ offset: 0, size: one.entry.sizeBytes }];
    const isSame =
      this.#bytesLeft < 0 ? null : await haveSameBytes(one.entry, other.entry, whole, this.#pace);
    // A time with a fraction of a second is nobody's choice: only a copy has the same one.
    return isSame ?? one.entry.mtimeNs % 1_000_000_000n !== 0n;
  }
}

/** Returns all that came or is missing, as trees, outer ones first. */
function halvesOf(changes: readonly RawChange[], kind: "added" | "deleted"): Half[] {
  const halves: Half[] = [];
  const open: Half[] = [];
  const sorted = changes
    .filter(({ change }) => change === kind)
    .sort((one, other) => compareParts(one.path, other.path));
  for (const change of sorted) {
    const entry = change.after ?? change.before;
    if (entry === null) continue;
    const half: Half = { change, entry, children: [], signature: "", isTaken: false };
    while (open.length > 0 && !isIn(change.path, open.at(-1))) open.pop();
    open.at(-1)?.children.push(half);
    if (entry.directory !== null) open.push(half);
    halves.push(half);
  }
  // Children follow their parents, so from the end everything below is signed already.
  for (const half of halves.toReversed()) half.signature = sign(half);
  return halves;
}

function isIn(path: RawPath, half: Half | undefined): boolean {
  return half !== undefined && isAtOrBelow(path, half.change.path);
}

function sign({ entry, children }: Half): string {
  const { type, mode, uid, gid, sizeBytes, mtimeNs } = entry;
  const rights = `${type}:${mode}:${uid}:${gid}`;
  if (entry.directory === null) return `${rights}:${sizeBytes}:${mtimeNs}`;
  const inside = children.map((child) => `${nameOf(child.change.path)}/${child.signature}`);
  // Hashed, so that outer directories do not repeat all that is in them.
  return `${rights}:${createHash("sha1").update(inside.join("\0")).digest("base64")}`;
}

/** An empty file or directory looks like any other. */
function isTellable({ entry, children }: Half): boolean {
  if (entry.directory !== null) return children.some(isTellable);
  return (entry.type === "file" && entry.sizeBytes > 0) || entry.type === "symlink";
}

function take(half: Half): void {
  half.isTaken = true;
  for (const child of half.children) take(child);
}

/** Nothing of it went elsewhere by itself. */
function isFree({ isTaken, children }: Half): boolean {
  return !isTaken && children.every(isFree);
}

function isTaken(half: Half): boolean {
  return half.isTaken;
}

function nameOf(path: RawPath): RawPath {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Sorts a directory right before all that it holds. */
function compareParts(one: RawPath, other: RawPath): number {
  const [a, b] = [one.replaceAll("/", "\0"), other.replaceAll("/", "\0")];
  return a < b ? -1 : a > b ? 1 : 0;
}
