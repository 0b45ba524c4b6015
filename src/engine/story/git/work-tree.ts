import { joinRaw, type RawPath } from "../../../base/index.ts";
import { type GitIndex, type IndexEntry, objectId, treeId } from "../../../formats/git/index.ts";
import type { Pace } from "../../moment/index.ts";
import { linkTarget, readEntry, type TreeEntry } from "../../moment/index.ts";
import type { GitRepository } from "../../repository/index.ts";

/** So much is read to find out whether files that were written are as before. */
const CONTENT_BYTES_MAX = 8 * 1024 * 1024;
const CONFIG_BYTES_MAX = 256 * 1024;
const EXECUTABLE = 0o100;
const LINK_MODE = 0o120000;

/**
 * What one repository has staged and in its work tree at one moment.
 *
 * Dirty is what differs from the last commit, staged or not, of the files that it keeps track of.
 * Files that it does not know make nothing dirty.
 */
export class WorkTree {
  readonly entries: readonly IndexEntry[];
  readonly #repository: GitRepository;
  readonly #index: GitIndex;
  readonly #writtenNs: bigint;
  readonly #directories = new Map<RawPath, ReturnType<GitRepository["files"]["directory"]>>();
  #contentBytesLeft = CONTENT_BYTES_MAX;

  /** @throws Error  what is staged cannot be read, or is too much; the message says why. */
  static async open(repository: GitRepository): Promise<WorkTree> {
    const { index, entry } = await repository.staged();
    return new WorkTree(repository, index, entry?.mtimeNs ?? 0n);
  }

  private constructor(repository: GitRepository, index: GitIndex, writtenNs: bigint) {
    this.#repository = repository;
    this.#index = index;
    this.entries = index.entries;
    this.#writtenNs = writtenNs;
  }

  /** Tells whether something is staged, or in a state that no commit can have. */
  async isStaged(): Promise<boolean> {
    const { commit } = this.#repository.head;
    if (this.#index.isUnsettled) return true;
    if (commit === null) return this.entries.length > 0;
    const last = await this.#repository.commit(commit);
    if (last === null) throw new Error("its last commit is not there");
    return treeId(this.entries, this.#repository.hashBytes) !== last.tree;
  }

  /**
   * Tells whether files differ from what is staged.
   *
   * @throws Error  it cannot be told, or would take too long; the message says why.
   */
  async differs(entries: readonly IndexEntry[], pace: Pace): Promise<boolean> {
    const config = await this.#config();
    const hasModes = !/^\s*filemode\s*=\s*(?:false|no|off|0)\b/im.test(config);
    const written: { entry: IndexEntry; found: TreeEntry }[] = [];
    for (const entry of entries) {
      await pace.yieldOften();
      if (!entry.isWatched) continue;
      const found = this.#find(entry.path);
      if (found === null || differsInKind(entry, found, hasModes)) return true;
      if (found.sizeBytes % 2 ** 32 !== entry.sizeBytes) return true;
      if (!this.#isAsNoted(entry, found)) written.push({ entry, found });
    }
    for (const { entry, found } of written) {
      await pace.yieldOften();
      if (await this.#hasContent(entry, found)) continue;
      // What git keeps may be another form of the same content, by rules that are not followed here.
      if (/autocrlf|\[\s*filter/i.test(config) || this.#hasAttributes()) {
        throw new Error("its files may be kept in another form than they have");
      }
      return true;
    }
    return false;
  }

  #find(path: RawPath): TreeEntry | null {
    const slash = path.lastIndexOf("/");
    const { top } = this.#repository.places;
    const parent = slash === -1 ? top : joinRaw(top, path.slice(0, slash));
    const known = this.#directories.get(parent);
    const here = known === undefined ? this.#repository.files.directory(parent) : known;
    this.#directories.set(parent, here);
    return here === null ? null : here.tree.child(here.directory, path.slice(slash + 1));
  }

  /** A file of the same age as the index may have been written again right after it. */
  #isAsNoted({ mtimeSeconds, mtimeNanoseconds }: IndexEntry, { mtimeNs }: TreeEntry): boolean {
    const [seconds, nanoseconds] = [mtimeNs / 1_000_000_000n, mtimeNs % 1_000_000_000n];
    const isSame =
      Number(seconds) % 2 ** 32 === mtimeSeconds &&
      (mtimeNanoseconds === 0 || Number(nanoseconds) === mtimeNanoseconds);
    return isSame && mtimeNs < this.#writtenNs;
  }

  async #hasContent({ path, id }: IndexEntry, found: TreeEntry): Promise<boolean> {
    this.#contentBytesLeft -= found.sizeBytes;
    if (this.#contentBytesLeft < 0) throw new Error("too much of it was written again");
    const content =
      found.type === "symlink"
        ? Buffer.from(linkTarget(found), "latin1")
        : await readEntry(found, path, CONTENT_BYTES_MAX);
    if (content === null) return false;
    return objectId("blob", content, this.#repository.hashBytes).toString("hex") === id;
  }

  #hasAttributes(): boolean {
    return this.entries.some(({ path }) => /(?:^|\/)\.gitattributes$/.test(path));
  }

  async #config(): Promise<string> {
    const { files, places } = this.#repository;
    const content = await files.read(joinRaw(places.commonDir, "config"), CONFIG_BYTES_MAX);
    return content?.toString("latin1") ?? "";
  }
}

function differsInKind({ mode }: IndexEntry, found: TreeEntry, hasModes: boolean): boolean {
  if (mode === LINK_MODE) return found.type !== "symlink";
  if (found.type !== "file") return true;
  return hasModes && (mode & EXECUTABLE) !== (found.mode & EXECUTABLE);
}
