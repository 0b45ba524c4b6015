import type { EnginePorts } from "../session/index.ts";
import { indexStory, loadStory } from "./keep-story.ts";
import { scheduleStory } from "./schedule-story.ts";

/**
 * Finds the checkpoints whose story the catalog does not know, or not whole, newest first: one that was kept is
 * noted in the catalog again, another is built in the background.
 */
export async function indexMissingStories(ports: EnginePorts): Promise<void> {
  for (const id of ports.catalog.stories.missing()) {
    if (ports.stories.isStopped) return;
    try {
      const story = await loadStory(id, ports);
      if (story === null) scheduleStory(id, ports);
      else indexStory(story, ports);
    } catch (error) {
      ports.logger.error("index a story", error, { id });
    }
  }
}
