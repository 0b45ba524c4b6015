import { expect, test } from "vitest";
import type { OperationOutput } from "../../shared/protocol/index.ts";
import { renderMove } from "./render-move.ts";

const moved: OperationOutput<"restore"> = {
  ...{ session: "s1", checkpoint: "ratjqv9fnp", pid: 1, readyMs: 5, totalMs: 9 },
  ...{ checkpointName: "good", checkpointContent: "full" },
  ...{
    undo: "bhrkd96mti",
    undoContent: "full",
    files: null,
    account: null,
    check: null,
    bindsLeftOut: [],
  },
  parts: { only: null, paths: [], except: [] },
};
const how = { moved, sessionRef: "web", verb: "is back at", loss: {} };

test("a checkpoint that has a name is told by it", () => {
  const [named] = renderMove(how);
  const [nameless] = renderMove({ ...how, moved: { ...moved, checkpointName: null } });

  expect(named).toBe("Session web is back at good (ratjqv9fnp)");
  expect(nameless).toBe("Session web is back at ratjqv9fnp");
});
