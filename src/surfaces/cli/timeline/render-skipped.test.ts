import { expect, test } from "vitest";
import type { Checkpoint, OperationOutput } from "../../../shared/protocol/index.ts";
import { plain } from "../text/style.ts";
import { renderTimeline } from "./render-timeline.ts";

const OPTIONS = { nowMs: Date.parse("2026-03-04T15:00:00.000Z"), columns: 100, paint: plain };

function checkpoint(id: string, parent: string | null, minute: number): Checkpoint {
  return {
    ...{
      id: `${id}00000000`,
      session: "s",
      name: null,
      tags: [],
      task: null,
      derivedIntent: null,
      trigger: "manual",
    },
    ...{ parent: parent === null ? null : `${parent}00000000`, intent: `made ${id}`, pauseMs: 1 },
    createdAt: new Date(OPTIONS.nowMs + minute * 60_000).toISOString(),
    ...{ content: "full", verification: null, changes: { summary: "" } },
  } as unknown as Checkpoint;
}

function log(facts: Partial<OperationOutput<"log">>): OperationOutput<"log"> {
  const nothing = { checkpoints: [], operations: [], decisions: [], sessions: [], elided: [] };
  return { ...nothing, notShown: 0, notSearched: 0, ...facts };
}

function told(facts: Partial<OperationOutput<"log">>): string[] {
  return renderTimeline(log(facts), OPTIONS).map((line) =>
    line.replace(/^(?:\d\d:\d\d| {5}) {2}/, ""),
  );
}

test("the tree goes on over what is left out, and says how much that is", () => {
  const checkpoints = [
    checkpoint("aa", null, 0),
    checkpoint("dd", "cc", 3),
    checkpoint("ee", "bb", 4),
  ];
  const ancestor = "aa00000000";
  const elided = [
    { checkpoint: "dd00000000", ancestor, count: 2 },
    { checkpoint: "ee00000000", ancestor, count: 1 },
  ];

  expect(told({ checkpoints, elided, notShown: 2 })).toEqual([
    "●      aa0000  made aa   1 ms",
    "├─╮",
    "│ │  … 2 not shown",
    "● │    dd0000  made dd   1 ms",
    "  │  … 1 not shown",
    "  ●    ee0000  made ee   1 ms",
    "3 of 5 checkpoints.",
  ]);
});

test("where nothing fits, or nobody can say, it is said", () => {
  expect(told({ notShown: 1 })).toEqual(["None of 1 checkpoint fits."]);
  expect(told({ notShown: 1200, notSearched: 3 }).join(" ")).toBe(
    "None of 1,200 checkpoints fits. Nobody can say it of 3: what their story tells of it is not " +
      "ready, or could not be read.",
  );
});
