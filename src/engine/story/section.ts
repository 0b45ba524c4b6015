import type { RawPath } from "../../base/index.ts";
import type { Changes, ChangesSection, MomentSection, Story } from "../../shared/protocol/index.ts";
import type { Moment } from "./moment.ts";
import type { StoryEngine } from "./story-engine.ts";

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
  engine: StoryEngine;
  /** Aborts when the reader's time is over or a snapshot is about to be removed. */
  signal: AbortSignal;
}

/**
 * Reads some sections of the changes between two moments.
 *
 * What it throws becomes the reason why its sections are unknown; other readers go on. It may
 * return fewer sections than it owns, with the reasons in `unknown`.
 */
export interface ChangesReader {
  sections: readonly ChangesSection[];
  read: (pair: MomentPair, context: ReadContext) => Promise<Partial<Changes>>;
  /** Returns its part of the summary, as in "1 package", or `null` when nothing is worth a word. */
  summarize: (changes: Changes) => string | null;
}

/** What a reader of things that lie at no path returns where a path was asked for. */
export function notBelowAPath({ sections }: Pick<ChangesReader, "sections">): Partial<Changes> {
  const reason = "only what lies below a path was asked for";
  return { unknown: Object.fromEntries(sections.map((section) => [section, reason])) };
}

/** Reads sections that tell of one moment: `to`. `from` is what came before it. */
export interface MomentReader {
  sections: readonly MomentSection[];
  read: (
    pair: MomentPair,
    context: ReadContext,
  ) => Promise<Partial<Pick<Story, MomentSection | "unknown">>>;
}
