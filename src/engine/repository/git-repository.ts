import type { RawPath } from "../../base/index.ts";
import { type GitCommit, parseCommit } from "../../formats/git/index.ts";
import type { MomentFiles } from "../moment/index.ts";
import { GitObjects } from "./git-objects.ts";
import { findGitPlaces, type GitPlaces } from "./git-places.ts";
import { type GitHead, GitRefs } from "./git-refs.ts";

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
}
