import type { RawPath } from "../../base/index.ts";
import type { MomentFiles } from "../moment/index.ts";
import { GitRepository } from "./git-repository.ts";

/** More repositories of one moment are not looked into. */
const REPOSITORIES_MAX = 50;

/** The repositories of one moment, each opened once, by what lies in them. */
export class Repositories implements AsyncDisposable {
  readonly #files: MomentFiles;
  readonly #open = new Map<RawPath, Promise<GitRepository | null>>();
  readonly #tops = new Map<RawPath, RawPath | null>();

  constructor(files: MomentFiles) {
    this.#files = files;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const opening of this.#open.values()) {
      const repository = await opening.catch(() => null);
      await repository?.[Symbol.asyncDispose]();
    }
  }

  /** Returns the repository whose work tree, or whose own files, a path is in. @throws Error  damaged */
  async around(rawPath: RawPath): Promise<GitRepository | null> {
    const top = this.#topOf(rawPath.slice(0, rawPath.lastIndexOf("/")));
    if (top === null) return null;
    const known = this.#open.get(top);
    if (known !== undefined) return await known;
    if (this.#open.size >= REPOSITORIES_MAX) return null;
    const opening = GitRepository.open(this.#files, top === "" ? "/" : top);
    this.#open.set(top, opening);
    return await opening;
  }

  /** @param directory  "" for the root. */
  #topOf(directory: RawPath): RawPath | null {
    const known = this.#tops.get(directory);
    if (known !== undefined) return known;
    const isTop = this.#files.find(`${directory}/.git`) !== null;
    const above = directory.slice(0, Math.max(0, directory.lastIndexOf("/")));
    const top = isTop ? directory : directory === "" ? null : this.#topOf(above);
    this.#tops.set(directory, top);
    return top;
  }
}
