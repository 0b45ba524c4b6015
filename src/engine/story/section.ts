import type { Changes, ChangesSection, MomentSection, Story } from "../../shared/protocol/index.ts";
import type { MomentPair, ReadContext } from "../moment/index.ts";

/**
 * Reads some sections of the changes between two moments.
 *
 * What it throws becomes the reason why its sections are unknown; other readers go on. It may
 * return fewer sections than it owns, with the reasons in `unknown`.
 */
export interface ChangesReader {
  sections: readonly ChangesSection[];
  read: (pair: MomentPair, context: ReadContext) => Promise<Partial<Changes>>;
  summarize: (changes: Changes) => SummaryPart;
}

/** What the summary tells of some sections: names first, counts when all names are told. */
export interface SummaryPart {
  /** As in "redis down", "~ config.json". */
  named: readonly string[];
  /** As in "+2 −1 processes", "12 packages". */
  counted: readonly string[];
}

/** Nothing is worth a word. */
export const NOTHING_TOLD: SummaryPart = { named: [], counted: [] };

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
