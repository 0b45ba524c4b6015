import type {
  CommandRow,
  NewOperation,
  StoryEntry,
  VerificationRow,
} from "../../src/portable/catalog/index.ts";

/** Rows of each kind, as a catalog takes them. */
export const COMMAND: CommandRow = {
  ...{ session: "s1", instance: "s1-1", command: "make", by: "exec", output: "ok\n" },
  ...{ startedAt: "2026-03-04T14:00:00.000Z", durationMs: 5, exitCode: 0, outputBytes: 3 },
};
export const VERIFIED: VerificationRow = {
  ...{ checkpoint: "c1", command: "npm test", exitCode: 0, durationMs: 9, timedOut: false },
  ...{ at: "2026-03-04T14:01:00.000Z", by: "verify", output: "fine", outputBytes: 4 },
};
export const OPERATION: NewOperation = {
  ...{ session: "s1", kind: "restore", checkpoint: "c1", undo: "c2", readyMs: 3 },
  ...{ at: "2026-03-04T14:02:00.000Z", stateBefore: null },
};

export function story(checkpoint: string, facts: Partial<StoryEntry> = {}): StoryEntry {
  return {
    ...{ checkpoint, summary: "redis up", intent: "make", intentSource: "command" },
    ...{ intentExitCode: 2, failedAfter: null, failedAfterExitCode: null, touched: [], text: "" },
    ...facts,
  };
}
