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
