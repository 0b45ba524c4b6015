import {
  abortUnfinished,
  applyCheckpoint,
  continueUnfinished,
  mergeCheckpoint,
  undoApply,
} from "../engine/merge/index.ts";
import type { Engine, StreamPeer } from "../engine/ports/index.ts";
import { resolveCheckpoint } from "../portable/lineage/index.ts";
import type {
  OperationName,
  OperationOutput,
  OperationParsedInput,
} from "../shared/protocol/index.ts";
import { withSession } from "./with-session.ts";

type MergeOperation = "merge" | Extract<OperationName, `apply${string}`>;

/** One at a time, whatever it writes to: each begins by looking at what the last one has left. */
const LEASE = "applies";

/** What each operation does that takes work over. */
export const MERGE_HANDLERS: {
  [N in MergeOperation]: (
    input: OperationParsedInput<N>,
    engine: Engine,
    peer: StreamPeer,
  ) => Promise<OperationOutput<N>>;
} = {
  apply: (input, engine, peer) =>
    engine.leases.run(LEASE, () => applyCheckpoint(input, peer, engine), peer.cancelled),

  "apply.undo": (input, engine, peer) =>
    engine.leases.run(LEASE, () => undoApply(input, peer, engine), peer.cancelled),

  "apply.continue": (_input, engine, peer) =>
    engine.leases.run(LEASE, () => continueUnfinished(peer, engine), peer.cancelled),

  "apply.abort": (_input, engine, peer) =>
    engine.leases.run(LEASE, () => abortUnfinished(peer, engine), peer.cancelled),

  merge: (input, engine, peer) =>
    withSession(input.session, engine, peer, (session) => {
      const merge = () => {
        const checkpoint = resolveCheckpoint(input.checkpoint, engine.catalog);
        return mergeCheckpoint({ session, checkpoint, dryRun: input.dryRun }, peer, engine);
      };
      return engine.leases.run(LEASE, merge, peer.cancelled);
    }),
};
