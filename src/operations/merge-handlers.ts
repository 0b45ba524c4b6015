import {
  abortUnfinished,
  applyCheckpoint,
  continueUnfinished,
  mergeCheckpoint,
  undoApply,
} from "../engine/merge/index.ts";
import { resolveCheckpoint } from "../portable/lineage/index.ts";
import type { OperationName } from "../shared/protocol/index.ts";
import type { HandlersOf } from "./operation-handler.ts";
import { withSession } from "./with-session.ts";

type MergeOperation = "merge" | Extract<OperationName, `apply${string}`>;

/** One at a time, whatever it writes to: each begins by looking at what the last one has left. */
const LEASE = "applies";

/** What each operation does that takes work over. */
export const MERGE_HANDLERS: HandlersOf<MergeOperation> = {
  apply: (input, engine, client) =>
    engine.leases.run(LEASE, () => applyCheckpoint(input, client, engine), client.cancelled),

  "apply.undo": (input, engine, client) =>
    engine.leases.run(LEASE, () => undoApply(input, client, engine), client.cancelled),

  "apply.continue": (_input, engine, client) =>
    engine.leases.run(LEASE, () => continueUnfinished(client, engine), client.cancelled),

  "apply.abort": (_input, engine, client) =>
    engine.leases.run(LEASE, () => abortUnfinished(client, engine), client.cancelled),

  merge: (input, engine, client) =>
    withSession(input.session, engine, client, (session) => {
      const merge = () => {
        const checkpoint = resolveCheckpoint(input.checkpoint, engine.catalog);
        return mergeCheckpoint({ session, checkpoint, dryRun: input.dryRun }, client, engine);
      };
      return engine.leases.run(LEASE, merge, client.cancelled);
    }),
};
