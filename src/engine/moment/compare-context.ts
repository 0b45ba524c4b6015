import type { RawPath } from "../../base/index.ts";
import type { ChangesSection } from "../../shared/protocol/index.ts";
import type { Moment } from "./moment.ts";
import type { ReadingEngine } from "./reading-engine.ts";

/** Two moments to be compared. */
export interface MomentPair {
  from: Moment;
  to: Moment;
}

/** What a comparison is asked for. */
export interface CompareScope {
  /** Only what lies at or below this path of the session; `null` for everything. */
  under: string | null;
  /** Which paths of files to tell of, as bytes; all of them if it is not given. */
  isWanted?: (path: RawPath) => boolean;
  /** List what groups stand for, one by one. */
  isExpanded: boolean;
  /** Longest list of files; the totals count beyond it. */
  filesMax: number;
  /** Add the lines of texts that differ. */
  withPatches: boolean;
  /** Only these sections; `null` for all. */
  sections: readonly ChangesSection[] | null;
}

/** What a reader works with besides the two moments. */
export interface ReadContext {
  scope: CompareScope;
  engine: ReadingEngine;
  /** Aborts when the reader's time is over or a snapshot is about to be removed. */
  signal: AbortSignal;
}
