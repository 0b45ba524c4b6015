import { expect, test } from "vitest";
import { WaypointError } from "../../shared/errors/index.ts";
import type { Story } from "../../shared/protocol/index.ts";
import { buildWithinBudget, untold } from "./build-within-budget.ts";
import { StoryOverBudget } from "./story-budget.ts";

const ROW = { id: "c1", parent: null, createdAt: "2026-01-01T00:00:00.000Z" };
const STORY: Story = { ...untold(ROW, "not read"), tookMs: 5 };

/** An engine whose builds end one after the other as `ends` says, and which notes failures. */
function engineWith(ends: (Story | Error)[], noted = new Map<string, number>()) {
  const stories = {
    overBudget: (id: string) =>
      noted.has(id) ? { count: noted.get(id) ?? 0, reason: "too much" } : undefined,
    noteOverBudget: (id: string) => void noted.set(id, (noted.get(id) ?? 0) + 1),
  };
  const build = async () => {
    const end = ends.shift() ?? new Error("built once too often");
    if (end instanceof Error) throw end;
    return end;
  };
  const logger = { info: () => {}, warn: () => {}, error: () => {} };
  return { catalog: { stories }, storyBuilder: { build, close: async () => {} }, logger };
}

const signal = new AbortController().signal;

test("a story that took too much once is tried again", async () => {
  const engine = engineWith([new StoryOverBudget("too much"), STORY]);

  expect(await buildWithinBudget(ROW, engine, signal)).toBe(STORY);
});

test("a story that took too much twice is left out, and says why in every section", async () => {
  const noted = new Map<string, number>();
  const tooMuch = () => new StoryOverBudget("too much");

  const story = await buildWithinBudget(ROW, engineWith([tooMuch(), tooMuch()], noted), signal);

  const reason = "the story was left out: too much, twice";
  expect(story).toMatchObject({
    intent: null,
    changes: { summary: "story left out", files: null },
  });
  expect(story.unknown).toMatchObject({ commands: reason, terminal: reason });
  expect(story.changes.unknown).toMatchObject({ files: reason, git: reason });
  expect(noted.get("c1")).toBe(2);
});

test("a story that an earlier daemon failed at twice is not tried by the next one", async () => {
  const story = await buildWithinBudget(ROW, engineWith([], new Map([["c1", 2]])), signal);

  expect(story.changes.summary).toBe("story left out");
});

test("any other failure is no matter of the budget", async () => {
  const gone = new WaypointError("CHECKPOINT_INCOMPLETE", "The files are gone.");
  const noted = new Map<string, number>();

  await expect(buildWithinBudget(ROW, engineWith([gone], noted), signal)).rejects.toBe(gone);
  expect(noted.size).toBe(0);
});
