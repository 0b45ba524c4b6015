import type { CheckpointRow } from "../../portable/model/index.ts";
import type { Story } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";
import { nothingKnown } from "./compare-moments.ts";
import { STORY_TRIES_MAX, StoryOverBudget } from "./story-budget.ts";

/** What building a story within its budget needs. */
type BudgetEngine = Pick<Engine, "storyBuilder" | "logger"> & {
  catalog: { stories: Pick<Engine["catalog"]["stories"], "overBudget" | "noteOverBudget"> };
};

/**
 * Builds the story of a checkpoint. One that went beyond its budget of time and memory
 * {@link STORY_TRIES_MAX} times, in this daemon or in earlier ones, is left out: nothing of it is known,
 * and it says why.
 *
 * @throws CHECKPOINT_INCOMPLETE | CANCELLED | STORE_FULL
 */
export async function buildWithinBudget(
  row: Pick<CheckpointRow, "id" | "parent" | "createdAt">,
  engine: BudgetEngine,
  signal: AbortSignal,
): Promise<Story> {
  const { stories } = engine.catalog;
  for (;;) {
    const failed = stories.overBudget(row.id);
    if (failed !== undefined && failed.count >= STORY_TRIES_MAX) return leftOut(row, failed.reason);
    try {
      return await engine.storyBuilder.build(row.id, signal);
    } catch (error) {
      if (signal.aborted || !(error instanceof StoryOverBudget)) throw error;
      engine.logger.warn("a story went beyond its budget", { id: row.id, reason: error.message });
      stories.noteOverBudget(row.id, error.message);
    }
  }
}

/** Returns a story that tells nothing but why. */
function leftOut(row: Pick<CheckpointRow, "id" | "parent" | "createdAt">, failure: string): Story {
  return untold(row, `the story was left out: ${failure}, twice`, "story left out");
}

/** Returns a story of which everything is unknown, for `reason`. */
export function untold(
  row: Pick<CheckpointRow, "id" | "parent" | "createdAt">,
  reason: string,
  summary = "",
): Story {
  return {
    ...{ checkpoint: row.id, parent: row.parent, builtAt: row.createdAt, tookMs: 0 },
    changes: { ...nothingKnown(reason), summary },
    ...{ intent: null, terminal: null, commands: null },
    unknown: { intent: reason, terminal: reason, commands: reason },
  };
}
