import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import path from "node:path";
import { fromText, isAtOrBelow, type RawPath, toBytes, toText } from "../../../base/index.ts";
import { WaypointError } from "../../../shared/errors/index.ts";
import type { Moment, Origin } from "../moment.ts";
import { linkTarget, type MergedDirectory, OverlayTree, type TreeEntry } from "./overlay-tree.ts";

const MEBIBYTE = 1024 ** 2;

/** As many links as the kernel follows. */
const LINKS_FOLLOWED_MAX = 40;

/** What tells where the layers of a moment are, and how they are read. */
type LayersOf = Pick<Moment, "subvolumePath" | "baseDir" | "calls"> & {
  origin: Pick<Origin, "hostMounts" | "binds">;
};

/** A directory with the tree that it is of. */
export interface DirectoryOfTree {
  tree: OverlayTree;
  directory: MergedDirectory;
}

/**
 * The files of one moment as its session saw them: every lookup goes through the layers of the
 * moment itself, so a link in a session leads nowhere but into that session.
 *
 * What is in a bind was not captured, and is not there.
 */
export class MomentFiles implements Disposable {
  readonly #moment: LayersOf;
  readonly #trees = new Map<string, OverlayTree>();
  readonly #open = new DisposableStack();

  constructor(moment: LayersOf) {
    this.#moment = moment;
  }

  [Symbol.dispose](): void {
    this.#open.dispose();
  }

  /**
   * Returns the tree of one overlay, the root's or that of a copy of a host's mount.
   *
   * @param prefix  its upper directory in the subvolume.
   */
  tree(prefix: string, baseDir: string): OverlayTree {
    const known = this.#trees.get(prefix);
    if (known !== undefined) return known;
    // Opened after the end it would stay open for ever.
    if (this.#open.disposed) throw new WaypointError("CANCELLED", "The files are closed.");
    const { subvolumePath, calls } = this.#moment;
    const tree = new OverlayTree(path.join(subvolumePath, prefix), baseDir, calls);
    this.#trees.set(prefix, this.#open.use(tree));
    return tree;
  }

  /** Returns what is at a path, without following links on the way, or `null`. */
  find(rawPath: RawPath): TreeEntry | null {
    const at = this.#treeAt(rawPath);
    return at === null ? null : at.tree.find(at.inTree);
  }

  /** Returns a directory to look names up in, or `null` where there is none. */
  directory(rawPath: RawPath): DirectoryOfTree | null {
    const at = this.#treeAt(rawPath);
    const directory = at?.tree.find(at.inTree)?.directory ?? null;
    return at === null || directory === null ? null : { tree: at.tree, directory };
  }

  /** Returns the names in a directory; none where there is no such directory. */
  names(rawPath: RawPath): RawPath[] {
    const found = this.directory(rawPath);
    return found === null ? [] : found.tree.names(found.directory);
  }

  /** Returns where a path leads when links are followed; `null` if to nothing. */
  resolve(rawPath: RawPath): RawPath | null {
    const waiting = rawPath.split("/");
    const resolved: RawPath[] = [];
    for (let links = 0, name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      if (name === "" || name === ".") continue;
      if (name === "..") {
        resolved.pop();
        continue;
      }
      const entry = this.find(`/${[...resolved, name].join("/")}`);
      if (entry === null) return null;
      if (entry.type !== "symlink") {
        resolved.push(name);
        continue;
      }
      links += 1;
      if (links > LINKS_FOLLOWED_MAX) return null;
      const target = linkTarget(entry);
      if (target.startsWith("/")) resolved.length = 0;
      waiting.unshift(...target.split("/"));
    }
    return `/${resolved.join("/")}`;
  }

  /**
   * Returns the content of a file, links followed, or `null` where there is none.
   *
   * @throws STORE_FAILED  it has more than `bytesMax`.
   */
  async read(rawPath: RawPath, bytesMax: number): Promise<Buffer | null> {
    const resolved = this.resolve(rawPath);
    const entry = resolved === null ? null : this.find(resolved);
    return entry === null ? null : await readEntry(entry, rawPath, bytesMax);
  }

  /** The overlay that a path is in, and its path there; `null` in what was not captured. */
  #treeAt(rawPath: RawPath): { tree: OverlayTree; inTree: RawPath } | null {
    const { binds, hostMounts } = this.#moment.origin;
    if (binds.some(({ target }) => isAtOrBelow(rawPath, fromText(target)))) return null;
    let inner = { mountPath: "/", prefix: "upper", baseDir: this.#moment.baseDir };
    for (const [number, hostMount] of hostMounts.entries()) {
      const mountPath = fromText(hostMount);
      if (!isAtOrBelow(rawPath, mountPath) || mountPath.length < inner.mountPath.length) continue;
      inner = { mountPath, prefix: `mounts/${number}/upper`, baseDir: hostMount };
    }
    const inTree = inner.mountPath === "/" ? rawPath : rawPath.slice(inner.mountPath.length);
    return { tree: this.tree(inner.prefix, inner.baseDir), inTree: inTree === "" ? "/" : inTree };
  }
}

/** Returns the content of an entry, or `null` of what is no file. @throws STORE_FAILED  too large */
export async function readEntry(
  { type, sizeBytes, hostPath }: TreeEntry,
  rawPath: RawPath,
  bytesMax: number,
): Promise<Buffer | null> {
  if (type !== "file") return null;
  if (sizeBytes > bytesMax) throw new WaypointError("STORE_FAILED", tooLarge(rawPath, bytesMax));
  await using file = await openEntry({ hostPath });
  const bytes = Buffer.alloc(sizeBytes);
  let filled = 0;
  while (filled < sizeBytes) {
    const { bytesRead } = await file.read(bytes, filled, sizeBytes - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

/** Opens a file that was found in a tree, for reading. */
export function openEntry({ hostPath }: Pick<TreeEntry, "hostPath">): Promise<FileHandle> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  // Node takes the bytes of a path here as elsewhere; its types do not say so.
  return open(toBytes(hostPath) as unknown as string, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
}

function tooLarge(rawPath: RawPath, bytesMax: number): string {
  const bound =
    bytesMax < MEBIBYTE ? `${bytesMax} bytes` : `${Math.round(bytesMax / MEBIBYTE)} MiB`;
  return `${toText(rawPath)} has more than ${bound}.`;
}
