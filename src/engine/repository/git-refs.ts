import { joinRaw, toText } from "../../base/index.ts";
import { parsePackedRefs, parseRef } from "../../formats/git/index.ts";
import type { MomentFiles } from "../moment/index.ts";
import { type GitPlaces, readLine } from "./git-places.ts";

const PACKED_BYTES_MAX = 32 * 1024 * 1024;
/** More branches than this are not walked. */
const REFS_MAX = 5000;
const SYMBOLIC_MAX = 5;
/** Its names are no files: another way to keep them, which is not read. */
const REFTABLE = "refs/heads/.invalid";

/** Where a repository stands. */
export interface GitHead {
  /** `null`: a commit itself is checked out. */
  branch: string | null;
  /** `null`: the branch has no commit yet. */
  commit: string | null;
}

/** The branches and other names of commits in a repository. */
export class GitRefs {
  readonly #files: MomentFiles;
  readonly #places: GitPlaces;
  #packed: Promise<Map<string, string>> | undefined;

  constructor(files: MomentFiles, places: GitPlaces) {
    this.#files = files;
    this.#places = places;
  }

  /** @throws Error  HEAD is damaged, or of a kind that is not read. */
  async head(): Promise<GitHead> {
    const line = await readLine(this.#files, joinRaw(this.#places.gitDir, "HEAD"));
    if (line === null) throw new Error("its HEAD is empty");
    const head = parseRef(line);
    if (head === null) throw new Error("its HEAD is damaged");
    if ("commit" in head) return { branch: null, commit: head.commit };
    const name = head.ref;
    if (name === REFTABLE) throw new Error("it keeps its branches in a reftable");
    const branch = toText(name.replace(/^refs\/heads\//, ""));
    return { branch, commit: await this.#resolve(name) };
  }

  /** Returns the commits below `refs/heads`, `refs/remotes` or the like. */
  async commitsBelow(prefix: string): Promise<Set<string>> {
    const names = new Set(this.#listLoose(prefix));
    for (const name of (await this.#readPacked()).keys()) {
      if (name.startsWith(`${prefix}/`)) names.add(name);
    }
    const commits = new Set<string>();
    for (const name of [...names].slice(0, REFS_MAX)) {
      const commit = await this.#resolve(name);
      if (commit !== null) commits.add(commit);
    }
    return commits;
  }

  async #resolve(name: string): Promise<string | null> {
    let current = name;
    for (let depth = 0; depth < SYMBOLIC_MAX; depth++) {
      const line =
        (await readLine(this.#files, joinRaw(this.#places.gitDir, current))) ??
        (await readLine(this.#files, joinRaw(this.#places.commonDir, current))) ??
        (await this.#readPacked()).get(current);
      if (line === undefined) return null;
      const next = parseRef(line);
      if (next === null) return null;
      if ("commit" in next) return next.commit;
      current = next.ref;
    }
    return null;
  }

  #listLoose(prefix: string): string[] {
    const found: string[] = [];
    const waiting = [prefix];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      const here = this.#files.directory(joinRaw(this.#places.commonDir, at));
      if (here === null) continue;
      for (const name of here.tree.names(here.directory)) {
        const entry = here.tree.child(here.directory, name);
        if (entry?.directory != null) waiting.push(`${at}/${name}`);
        else if (entry?.type === "file") found.push(`${at}/${name}`);
        if (found.length + waiting.length > REFS_MAX) return found;
      }
    }
    return found;
  }

  #readPacked(): Promise<Map<string, string>> {
    this.#packed ??= this.#loadPacked();
    return this.#packed;
  }

  async #loadPacked(): Promise<Map<string, string>> {
    const packedPath = joinRaw(this.#places.commonDir, "packed-refs");
    const content = await this.#files.read(packedPath, PACKED_BYTES_MAX);
    return content === null ? new Map() : parsePackedRefs(content);
  }
}
