import { z } from "zod";
import { type Story, storySchema } from "../../shared/protocol/index.ts";
import type { ReadingEngine } from "../moment/index.ts";
import { indexEntry } from "./index-entry.ts";

/** Version of story.json; one of another version is built anew. */
const STORY_FORMAT = 3;

const keptSchema = z.object({ format: z.literal(STORY_FORMAT), story: storySchema });

/** Keeps a story beside its checkpoint, and in the catalog what the timeline needs of it. */
export async function keepStory(story: Story, engine: ReadingEngine): Promise<void> {
  await engine.store.stories.write(story.checkpoint, { format: STORY_FORMAT, story });
  indexStory(story, engine);
}

/** Notes in the catalog what the timeline shows of a story and finds it by. */
export function indexStory(story: Story, engine: ReadingEngine): void {
  if (engine.catalog.checkpoint(story.checkpoint) === undefined) return;
  engine.catalog.stories.put(indexEntry(story));
}

/** Returns a story that was kept, or `null` when it must be built. */
export async function loadStory(
  checkpointId: string,
  engine: ReadingEngine,
): Promise<Story | null> {
  const kept = keptSchema.safeParse(await engine.store.stories.read(checkpointId));
  return kept.success ? kept.data.story : null;
}
