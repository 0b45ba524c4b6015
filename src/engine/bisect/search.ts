/** What is known of the first bad checkpoint. */
export type Verdict = "good" | "bad" | "skip";

/** Tells in how many rounds so many checkpoints are narrowed down to one, at the most. */
export function roundsMax(candidates: number, concurrency: number): number {
  let rounds = 0;
  for (let left = candidates; left > 1; left = Math.ceil(left / (concurrency + 1))) rounds += 1;
  return rounds;
}

/**
 * The search along a path of which the first is good and the last is bad. It knows places on the
 * path, 0 for the first, and what was found at them; nothing of checkpoints.
 *
 * There may be several changes from good to bad; it ends at one of them.
 */
export class Search {
  #good = 0;
  #bad: number;
  readonly #skipped = new Set<number>();
  readonly #gone = new Set<number>();

  constructor(length: number) {
    this.#bad = length - 1;
  }

  /** Last place that is known to be good before {@link bad}. */
  get good(): number {
    return this.#good;
  }

  /** First place that is known to be bad. */
  get bad(): number {
    return this.#bad;
  }

  /** Places of which each may be the first bad one; one when nothing is left to find. */
  get candidates(): number[] {
    return this.#between().concat(this.#bad);
  }

  /** Tells whether a result at this place would say anything that is not known yet. */
  isOpen(place: number): boolean {
    return place > this.#good && place < this.#bad;
  }

  /** Takes a result. One that says nothing new is left aside. */
  note(place: number, verdict: Verdict): void {
    if (!this.isOpen(place)) return;
    if (verdict === "good") this.#good = place;
    else if (verdict === "bad") this.#bad = place;
    else this.#skipped.add(place);
  }

  /** Takes a place out of the search: what was there is no more. */
  remove(place: number): void {
    this.#gone.add(place);
  }

  /**
   * Returns at most `count` places that cut what is left into parts as equal as possible; none when
   * nothing is left to try.
   */
  next(count: number): number[] {
    const open = this.#between().filter((place) => !this.#skipped.has(place));
    const parts = Math.min(count, open.length) + 1;
    const cuts = Array.from({ length: parts - 1 }, (_, at) => {
      return Math.round(((at + 1) * (open.length + 1)) / parts) - 1;
    });
    return cuts.map((cut) => open[cut] as number);
  }

  #between(): number[] {
    const length = this.#bad - this.#good - 1;
    const places = Array.from({ length }, (_, at) => this.#good + 1 + at);
    return places.filter((place) => !this.#gone.has(place));
  }
}
