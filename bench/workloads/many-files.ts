import { compareSaves, sessionSave } from "./compare-saves.ts";
import type { Workload } from "./workload.ts";

/** Where the time should not follow the number of files that are there. */
export const manyFiles: Workload = {
  name: "files",
  title: "100,000 files, one of them changed",
  rounds: { quick: 10, full: 30 },
  prepare: async (context) => [
    ...(await compareSaves({ fileCount: 100_000, changedCount: 1 }, context)),
    await sessionSave("waypoint, 100 files", { fileCount: 100, changedCount: 1 }, context),
  ],
};

/** Where the time may follow the number of files that were changed. */
export const changedFiles: Workload = {
  name: "changes",
  title: "10,000 files, 1,000 of them changed",
  rounds: { quick: 6, full: 30 },
  prepare: (context) => compareSaves({ fileCount: 10_000, changedCount: 1_000 }, context),
};
