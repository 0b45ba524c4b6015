import type { Engine } from "../ports/index.ts";
import { buildWithinBudget } from "./build-within-budget.ts";
import { keepStory } from "./keep-story.ts";

/**
 * Has a checkpoint's story built in the background, once.
 *
 * It gives way to what somebody waits for. A failure is logged; the story is missing then, and is built when somebody asks for it or when
 * the daemon starts.
 */
export function scheduleStory(checkpointId: string, engine: Engine): void {
  const askedAtMs = performance.now();
  engine.stories.schedule(checkpointId, async (signal, reads) => {
    try {
      await engine.turns.turn(askedAtMs, signal);
      const row = engine.catalog.checkpoint(checkpointId);
      if (row === undefined || signal.aborted) return;
      // Where its parent is removed, it is compared with an earlier one: the removal has it built anew.
      reads([row.id, ...(row.parent === null ? [] : [row.parent])]);
      await keepStory(await buildWithinBudget(row, engine, signal), engine);
    } catch (error) {
      if (!signal.aborted) engine.logger.error("build a story", error, { checkpointId });
    }
  });
}
