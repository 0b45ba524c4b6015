import type { Engine } from "../ports/index.ts";
import { indexStory, loadStory } from "./keep-story.ts";
import { scheduleStory } from "./schedule-story.ts";

/**
 * Finds the checkpoints whose story the catalog does not know, or not whole, newest first: one that was kept is
 * noted in the catalog again, another is built in the background.
 */
export async function indexMissingStories(engine: Engine): Promise<void> {
  for (const id of engine.catalog.stories.missing()) {
    if (engine.stories.isStopped) return;
    try {
      const story = await loadStory(id, engine);
      if (story === null) scheduleStory(id, engine);
      else indexStory(story, engine);
    } catch (error) {
      engine.logger.error("index a story", error, { id });
    }
  }
}
