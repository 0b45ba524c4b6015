import type { RawPath } from "../../../base/index.ts";
import type { NewVersions } from "./file-versions.ts";
import type { Selection } from "./select-checkpoints.ts";

/** Paths that are remembered; of further ones nobody knows how long they stand. */
const PATHS_MAX = 1_000_000;

/**
 * Knows how long a version of a file stands: until the next change at its path. Works only where the
 * checkpoints are one line and are looked at from the newest to the oldest.
 */
export class VersionLifetimes {
  readonly #ids: readonly string[];
  readonly #isKnown: boolean;
  /** At each path: the place in the list of the oldest change that was seen so far. */
  readonly #changedAt = new Map<RawPath, number>();
  readonly #movedAt = new Map<RawPath, number>();

  constructor({ searched, isOneLine }: Selection) {
    this.#ids = searched.map(({ row }) => row.id);
    this.#isKnown = isOneLine;
  }

  /** Returns the last checkpoint that has what is new at `rawPath` in the one at `place`. */
  until(rawPath: RawPath): string | null {
    if (!this.#isKnown || this.#changedAt.size >= PATHS_MAX) return null;
    let next = this.#changedAt.get(rawPath) ?? -1;
    for (let end = rawPath.lastIndexOf("/"); end > 0; end = rawPath.lastIndexOf("/", end - 1)) {
      next = Math.max(next, this.#movedAt.get(rawPath.slice(0, end)) ?? -1);
    }
    return this.#ids[next + 1] ?? null;
  }

  /** Notes what changed in the checkpoint at `place`, after what is new there was looked up. */
  note({ touched, moved }: NewVersions, place: number): void {
    if (!this.#isKnown || this.#changedAt.size >= PATHS_MAX) return;
    for (const rawPath of touched) this.#changedAt.set(rawPath, place);
    for (const rawPath of moved) this.#movedAt.set(rawPath, place);
  }
}
