import { fromText, joinRaw, type RawPath } from "../../base/index.ts";
import {
  commitBefore,
  entriesIn,
  findInTree,
  type GitCommit,
  type GitIndex,
  type GitObject,
  type GitTreeEntry,
  parseCommit,
  parseIndex,
} from "../../formats/git/index.ts";
import type { MomentFiles, TreeEntry } from "../moment/index.ts";
import { GitObjects } from "./git-objects.ts";
import { findGitPlaces, type GitPlaces } from "./git-places.ts";
import { type GitHead, GitRefs } from "./git-refs.ts";

const INDEX_BYTES_MAX = 8 * 1024 * 1024;
/** In a larger repository questions about all its files would cost too much. */
const ENTRIES_MAX = 20_000;
const REFLOG_BYTES_MAX = 4 * 1024 * 1024;
const SHA1_BYTES = 20;
const NS_PER_SECOND = 1_000_000_000n;

/** What is staged, and the file that says so; `null` where nothing ever was. */
export interface Staged {
  index: GitIndex;
  entry: TreeEntry | null;
}

/**
 * A repository as it was at one moment, read from its files alone.
 *
 * git itself is not asked: a repository is somebody's content, its settings can name programs to be
 * run, and its links can lead out of it. Here every lookup stays in the session.
 */
export class GitRepository implements AsyncDisposable {
  readonly files: MomentFiles;
  readonly places: GitPlaces;
  readonly head: GitHead;
  readonly refs: GitRefs;
  readonly #objects: GitObjects;

  /** Returns the repository of a work tree, or `null` where there is none. @throws Error  damaged */
  static async open(files: MomentFiles, top: RawPath): Promise<GitRepository | null> {
    const places = await findGitPlaces(files, top);
    if (places === null) return null;
    const refs = new GitRefs(files, places);
    return new GitRepository(files, places, { refs, head: await refs.head() });
  }

  private constructor(
    files: MomentFiles,
    places: GitPlaces,
    { refs, head }: { refs: GitRefs; head: GitHead },
  ) {
    this.files = files;
    this.places = places;
    this.refs = refs;
    this.head = head;
    this.#objects = new GitObjects(files, places.commonDir);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#objects[Symbol.asyncDispose]();
  }

  /** Tells whether the repository has an object, reachable or not. */
  has(id: string): Promise<boolean> {
    return this.#objects.has(id);
  }

  /** Returns a commit, or `null` where it is not there, as behind the end of a shallow clone. */
  async commit(id: string): Promise<GitCommit | null> {
    const object = await this.#objects.read(id);
    return object === null ? null : parseCommit(id, object);
  }

  /** Bytes of an object's id. */
  get hashBytes(): number {
    return this.head.commit === null ? SHA1_BYTES : this.head.commit.length / 2;
  }

  /** @throws Error  what is staged cannot be read, or is too much; the message says why. */
  async staged(): Promise<Staged> {
    const indexPath = joinRaw(this.places.gitDir, "index");
    const entry = this.files.find(indexPath);
    const content = await this.files.read(indexPath, INDEX_BYTES_MAX);
    if (content === null || entry === null) {
      return { index: { entries: [], isUnsettled: false }, entry: null };
    }
    return { index: parseIndex(content, this.hashBytes, ENTRIES_MAX), entry };
  }

  /** Returns what a commit has at a path, or `null`. @throws Error  an object is damaged */
  async fileAt(commitId: string, path: RawPath): Promise<GitTreeEntry | null> {
    const commit = await this.commit(commitId);
    let found: GitTreeEntry | null = commit === null ? null : { mode: 0, id: commit.tree };
    for (const name of path.split("/")) {
      const tree: GitObject | null = found === null ? null : await this.#objects.read(found.id);
      found = tree?.type === "tree" ? findInTree(tree, name, this.hashBytes) : null;
    }
    return found;
  }

  /** Returns the content of a file by its id, or `null`. @throws Error  damaged, or too large */
  async blob(id: string): Promise<Buffer | null> {
    const object = await this.#objects.read(id);
    return object?.type === "blob" ? object.content : null;
  }

  /**
   * Returns the commit that was checked out at a time before this moment; `null` where nothing tells.
   *
   * @param changedNs  returns when a file was last changed.
   */
  async commitAt(timeNs: bigint, changedNs: (entry: TreeEntry) => bigint): Promise<string | null> {
    const { gitDir, commonDir } = this.places;
    const branch = this.head.branch === null ? [] : [`refs/heads/${fromText(this.head.branch)}`];
    const tellers = [
      joinRaw(gitDir, "HEAD"),
      ...["packed-refs", ...branch].map((name) => joinRaw(commonDir, name)),
    ].map((path) => this.files.find(path));
    const hasStayed = tellers.every((entry) => entry === null || changedNs(entry) <= timeNs);
    if (hasStayed) return this.head.commit;
    const reflog = await this.files.read(joinRaw(gitDir, "logs/HEAD"), REFLOG_BYTES_MAX);
    if (reflog === null) return null;
    const seconds = Number(timeNs / NS_PER_SECOND);
    // Within a second only the file of a new commit tells whether it was there already.
    for (const { id, isNew } of entriesIn(reflog, seconds)) {
      const file = isNew ? await this.#objects.looseFile(id) : null;
      if (file === null) break;
      if (changedNs(file) <= timeNs) return id;
    }
    return commitBefore(reflog, seconds);
  }
}
