import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { type ErrorWire, toWaypointError, WaypointError } from "../../shared/errors/index.ts";
import type { Story } from "../../shared/protocol/index.ts";
import type { ReadingEngine } from "../moment/index.ts";
import { buildStory } from "./build-story.ts";
import { STORY_ANSWER_CHARACTERS_MAX } from "./story-budget.ts";

/** A line from the daemon. */
export type StoryRequest = { number: number } & ({ build: string } | { cancel: true });

/** A line to the daemon. */
export type StoryAnswer = { number: number } & (
  | { story: Story }
  | { error: ErrorWire }
  | { overBudget: string }
);

/** Builds the stories that are asked for on `input`, a line each; resolves at its end. */
export async function serveStories(
  engine: ReadingEngine,
  { input, output }: { input: Readable; output: Writable },
): Promise<void> {
  const building = new Map<number, AbortController>();
  const answer = (line: StoryAnswer) => output.write(`${bounded(line)}\n`);
  for await (const line of createInterface({ input })) {
    const request = JSON.parse(line) as StoryRequest;
    const { number } = request;
    if ("cancel" in request) {
      building.get(number)?.abort();
      continue;
    }
    const controller = new AbortController();
    building.set(number, controller);
    void buildWhole(request.build, engine, controller.signal)
      .then((story) => answer({ number, story }))
      .catch((error: unknown) => answer({ number, error: toWaypointError(error).toJSON() }))
      .finally(() => building.delete(number));
  }
}

/** A parent that was removed meanwhile has taken its half of the story with it. */
async function buildWhole(id: string, engine: ReadingEngine, signal: AbortSignal): Promise<Story> {
  const row = engine.catalog.checkpoint(id);
  if (row === undefined) {
    throw new WaypointError("CHECKPOINT_NOT_FOUND", `There is no checkpoint ${id} any more.`);
  }
  const story = await buildStory(row, engine, signal);
  const isWhole = story.parent === null || engine.catalog.checkpoint(story.parent) !== undefined;
  const whole = isWhole ? story : await buildStory(row, engine, signal);
  // What was given up half-way is no story: it would be kept as one with everything unknown.
  if (signal.aborted) {
    await engine.store.snapshots.settled();
    throw new WaypointError("CANCELLED", "The story was given up.");
  }
  return whole;
}

function bounded(answer: StoryAnswer): string {
  const line = JSON.stringify(answer);
  if (line.length <= STORY_ANSWER_CHARACTERS_MAX) return line;
  const reason = `a story of ${line.length} characters is more than anybody reads`;
  return JSON.stringify({ number: answer.number, overBudget: reason } satisfies StoryAnswer);
}
