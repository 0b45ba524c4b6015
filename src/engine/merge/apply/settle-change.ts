import type { RawPath } from "../../../base/index.ts";
import type { Version } from "../../changes/index.ts";
import type { PathChange } from "../desired-changes.ts";
import type { Settled } from "../plan.ts";
import { findBase, type Sides } from "./find-base.ts";
import { gitOwnPath } from "./git-own-path.ts";
import { settleGitFile } from "./settle-git-file.ts";

/** More paths would keep a person waiting whom a list of conflicts serves as well. */
const ASKED_MAX = 2000;

/** Finds out what becomes of paths that both sides seem to have changed. */
export class Settling {
  readonly #sides: Sides;
  readonly #signal: AbortSignal;
  #askedCount = 0;

  constructor(sides: Sides, signal: AbortSignal) {
    this.#sides = sides;
    this.#signal = signal;
  }

  /** Returns what git, or the session's history, says of a path; `null` where they say nothing. */
  async settle(
    change: PathChange,
    targetPath: RawPath,
    ours: Version | null,
  ): Promise<Settled | null> {
    if (ours?.type !== "file" || this.#askedCount >= ASKED_MAX) return null;
    if (change.after !== null && change.after.type !== "file") return null;
    this.#askedCount += 1;
    const question = { change, targetPath, ours };
    const inGit = gitOwnPath(targetPath);
    try {
      if (inGit !== null) return await settleGitFile(inGit, question, this.#sides);
      const base = await findBase(question, this.#sides);
      return base === null ? null : { base };
    } catch {
      // A repository is somebody's content: one that is damaged settles nothing.
      this.#signal.throwIfAborted();
      return null;
    }
  }
}
