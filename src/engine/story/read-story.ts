import type { CheckpointRow } from "../../portable/model/index.ts";
import type { Story } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";
import { buildWithinBudget, untold } from "./build-within-budget.ts";
import { loadStory } from "./keep-story.ts";
import { scheduleStory } from "./schedule-story.ts";

/** How long whoever asks for a story waits for it to be built. */
const WAIT_MS = 30_000;

/**
 * Returns a checkpoint's story; one that is missing is built first.
 *
 * Never rejects: a story that cannot be had is one of which everything is unknown.
 */
export async function readStory(row: CheckpointRow, engine: Engine): Promise<Story> {
  const kept = await loadStory(row.id, engine);
  if (kept !== null) return kept;
  using _hurried = engine.turns.hurry();
  scheduleStory(row.id, engine);
  await engine.stories.ready(row.id, WAIT_MS);
  return (await loadStory(row.id, engine)) ?? (await buildUnkept(row, engine));
}

/** One that could not be kept, in a full store for instance, can still be told. */
async function buildUnkept(row: CheckpointRow, engine: Engine): Promise<Story> {
  try {
    return await buildWithinBudget(row, engine, AbortSignal.timeout(WAIT_MS));
  } catch (error) {
    engine.logger.error("build a story", error, { checkpointId: row.id });
    return untold(row, "the story could not be built; the daemon's log says why");
  }
}
