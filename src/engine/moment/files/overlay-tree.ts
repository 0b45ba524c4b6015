import { type BigIntStats, closeSync, lstatSync, readdirSync, readlinkSync } from "node:fs";
import {
  fdPath,
  fileTypeOf,
  fromText,
  isSystemError,
  type RawPath,
  toBytes,
} from "../../../base/index.ts";
import type { FileType } from "../../../shared/protocol/index.ts";
import type { ReadingCalls } from "../../ports/index.ts";

/** What an overlay says of its own in extended attributes. */
const OPAQUE = "trusted.overlay.opaque";
const REDIRECT = "trusted.overlay.redirect";
const WHITEOUT = "trusted.overlay.whiteout";
/** On an empty directory that Waypoint itself put over what a session must not see. */
const COVER = "trusted.waypoint.cover";
/** Merged directories that are remembered. */
const MERGED_MAX = 10_000;

/** A directory as the overlay merges it; a part that is missing is `null`. */
export interface MergedDirectory {
  upper: RawPath | null;
  base: RawPath | null;
  /** Its upper part may hold whiteouts that are files. */
  hasFileWhiteouts: boolean;
  /** Waypoint put it there, over what a session must not see. */
  isCover?: boolean;
}

/** What an overlay shows at one path. */
export interface TreeEntry {
  type: FileType;
  mode: number;
  uid: number;
  gid: number;
  device: number;
  sizeBytes: number;
  mtimeNs: bigint;
  /** Number of the inode in the upper's subvolume; `null` for what comes from the base. */
  upperInode: number | null;
  /** Where it lies on the host, followed by its bytes' functions. */
  hostPath: RawPath;
  directory: MergedDirectory | null;
}

/**
 * What an overlay of an upper directory over a base shows, read from its layers without mounting it.
 *
 * Whiteouts, opaque directories and redirects are followed as the kernel does; what is mounted in
 * the base is not seen, as the overlay does not see it.
 */
export class OverlayTree implements Disposable {
  readonly root: TreeEntry;
  readonly calls: ReadingCalls;
  readonly #baseFd: number;
  readonly #baseRoot: RawPath;
  /** The layers stand still while a tree is open, so what was read once holds. */
  readonly #merged = new Map<RawPath, MergedDirectory>();

  constructor(upperDir: string, baseDir: string, calls: ReadingCalls) {
    this.calls = calls;
    this.#baseFd = calls.openWithoutMounts(baseDir);
    this.#baseRoot = fdPath(this.#baseFd);
    const upper = fromText(upperDir);
    const directory = { upper, base: this.#baseRoot, hasFileWhiteouts: false };
    this.root = { ...describe(stat(upper) as BigIntStats, upper, true), directory };
  }

  [Symbol.dispose](): void {
    closeSync(this.#baseFd);
  }

  /** Tells whether two directories, of this tree or another on the same base, show the same of it. */
  relativeBase({ base }: MergedDirectory): RawPath | null {
    return base === null ? null : base.slice(this.#baseRoot.length);
  }

  /** Returns what a directory shows under a name. */
  child(directory: MergedDirectory, name: RawPath): TreeEntry | null {
    const { upper, base } = directory;
    const upperPath = upper === null ? null : `${upper}/${name}`;
    const upperStat = upperPath === null ? null : stat(upperPath);
    if (upperPath === null || upperStat === null) {
      return base === null ? null : this.#baseEntry(`${base}/${name}`);
    }
    if (this.#isWhiteout(upperStat, upperPath, directory)) return null;
    const entry = describe(upperStat, upperPath, true);
    if (entry.type === "directory") {
      entry.directory = this.#merge(upperPath, base === null ? null : `${base}/${name}`);
    }
    return entry;
  }

  /** Returns what is at a path of the session, or `null`. */
  find(rawPath: RawPath): TreeEntry | null {
    let entry: TreeEntry | null = this.root;
    for (const name of rawPath.split("/")) {
      if (name === "") continue;
      if (entry?.directory == null) return null;
      entry = this.child(entry.directory, name);
    }
    return entry;
  }

  /** Returns the names that a directory shows. */
  names(directory: MergedDirectory): RawPath[] {
    const { upper } = directory;
    const names = [...this.namesIn(directory)];
    if (upper === null) return names;
    return names.filter((name) => {
      const upperPath = `${upper}/${name}`;
      const upperStat = stat(upperPath);
      return upperStat === null || !this.#isWhiteout(upperStat, upperPath, directory);
    });
  }

  /** Returns the names in the layers of a directory: those of whiteouts too, which have no child. */
  namesIn({ upper, base }: MergedDirectory): Set<RawPath> {
    const names = new Set(base === null ? [] : list(base));
    if (upper !== null) for (const name of list(upper)) names.add(name);
    return names;
  }

  #baseEntry(basePath: RawPath): TreeEntry | null {
    const found = stat(basePath);
    if (found === null) return null;
    const entry = describe(found, basePath, false);
    if (entry.type === "directory") {
      entry.directory = { upper: null, base: basePath, hasFileWhiteouts: false };
    }
    return entry;
  }

  /** Paths are followed from the root each time, through the same few directories. */
  #merge(upper: RawPath, basePath: RawPath | null): MergedDirectory {
    const known = this.#merged.get(upper);
    if (known !== undefined) return known;
    if (this.#merged.size >= MERGED_MAX) this.#merged.clear();
    const merged = this.#readMerged(upper, basePath);
    this.#merged.set(upper, merged);
    return merged;
  }

  #readMerged(upper: RawPath, basePath: RawPath | null): MergedDirectory {
    const bytes = toBytes(upper);
    const opaque = this.calls.readXattr(bytes, OPAQUE)?.toString("latin1");
    const hasFileWhiteouts = opaque === "x";
    if (opaque === "y") {
      const isCover = this.calls.readXattr(bytes, COVER) !== null;
      return { upper, base: null, hasFileWhiteouts, isCover };
    }
    const redirect = this.calls.readXattr(bytes, REDIRECT)?.toString("latin1");
    const base = redirect === undefined ? basePath : this.#redirected(basePath, redirect);
    const isMerged = base !== null && typeOf(stat(base)) === "directory";
    return { upper, base: isMerged ? base : null, hasFileWhiteouts };
  }

  #isWhiteout(
    found: BigIntStats,
    upperPath: RawPath,
    { hasFileWhiteouts }: MergedDirectory,
  ): boolean {
    if (typeOf(found) === "character-device") return found.rdev === 0n;
    const mayBe = hasFileWhiteouts && typeOf(found) === "file" && found.size === 0n;
    return mayBe && this.calls.readXattr(toBytes(upperPath), WHITEOUT) !== null;
  }

  #redirected(basePath: RawPath | null, redirect: RawPath): RawPath | null {
    if (redirect.startsWith("/")) return this.#baseRoot + redirect;
    return basePath === null ? null : `${basePath.slice(0, basePath.lastIndexOf("/"))}/${redirect}`;
  }
}

/** Returns where a symbolic link leads. */
export function linkTarget({ hostPath }: TreeEntry): string {
  return readlinkSync(toBytes(hostPath), "latin1");
}

function describe(found: BigIntStats, hostPath: RawPath, isUpper: boolean): TreeEntry {
  const type = typeOf(found) ?? "file";
  const isSized = type === "file" || type === "symlink";
  return {
    type,
    mode: Number(found.mode) & 0o7777,
    uid: Number(found.uid),
    gid: Number(found.gid),
    device: type.endsWith("device") ? Number(found.rdev) : 0,
    sizeBytes: isSized ? Number(found.size) : 0,
    mtimeNs: found.mtimeNs,
    upperInode: isUpper ? Number(found.ino) : null,
    hostPath,
    directory: null,
  };
}

function typeOf(found: BigIntStats | null): FileType | undefined {
  return found === null ? undefined : fileTypeOf(found.mode);
}

function stat(rawPath: RawPath): BigIntStats | null {
  try {
    return lstatSync(toBytes(rawPath), { bigint: true, throwIfNoEntry: false }) ?? null;
  } catch (error) {
    // Where the base has a file in place of a directory on the way.
    if (isSystemError(error, "ENOTDIR", "ENOENT")) return null;
    throw error;
  }
}

function list(rawPath: RawPath): RawPath[] {
  try {
    return readdirSync(toBytes(rawPath), "latin1");
  } catch (error) {
    if (isSystemError(error, "ENOTDIR", "ENOENT")) return [];
    throw error;
  }
}
