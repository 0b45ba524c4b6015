import type { CheckpointRow } from "../catalog/index.ts";
import type { Story } from "../protocol/index.ts";
import type { EnginePorts } from "../session/index.ts";
import { buildStory } from "./build-story.ts";
import { keepStory } from "./keep-story.ts";

/**
 * Has a checkpoint's story built in the background, once.
 *
 * A failure is logged; the story is missing then, and is built when somebody asks for it or when
 * the daemon starts.
 */
export function scheduleStory(checkpointId: string, ports: EnginePorts): void {
  ports.stories.schedule(checkpointId, async (signal) => {
    try {
      const row = ports.catalog.checkpoint(checkpointId);
      if (row === undefined || signal.aborted) return;
      const story = await buildFromWhatIsThere(row, ports, signal);
      // What was given up half-way is no story: it would be kept as one with everything unknown.
      if (!signal.aborted) await keepStory(story, ports);
    } catch (error) {
      ports.logger.error("build a story", error, { checkpointId });
    }
  });
}

/** A parent that was removed meanwhile has taken its half of the story with it. */
async function buildFromWhatIsThere(
  row: CheckpointRow,
  ports: EnginePorts,
  signal: AbortSignal,
): Promise<Story> {
  const story = await buildStory(row, ports, signal);
  const isWhole = story.parent === null || ports.catalog.checkpoint(story.parent) !== undefined;
  return isWhole ? story : await buildStory(row, ports, signal);
}
