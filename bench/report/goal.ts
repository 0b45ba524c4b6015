/** Where the results have a figure. */
export type Figure = readonly [workload: string, contender: string, figure: string];

/** What Waypoint means to reach, and how the results tell. */
export interface Goal {
  what: string;
  /** Largest value that is good: in `unit`, or the ratio to `against`. */
  atMost?: number;
  /** @defaultValue ms */
  unit?: "MiB" | "×";
  /** Smallest ratio of `against` to the figure that is good. */
  timesFasterMin?: number;
  figure: Figure;
  against?: Figure;
  /** What is measured is the difference to `against`. */
  isDifference?: true;
  /** What is measured is how far the values spread: their p95 against their p50. */
  isSpread?: true;
}
