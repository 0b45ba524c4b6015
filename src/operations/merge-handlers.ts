import {
  abortUnfinished,
  applyCheckpoint,
  continueUnfinished,
  mergeCheckpoint,
  undoApply,
} from "../engine/merge/index.ts";
import type { EnginePorts, StreamPeer } from "../engine/session/index.ts";
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
    ports: EnginePorts,
    peer: StreamPeer,
  ) => Promise<OperationOutput<N>>;
} = {
  apply: (input, ports, peer) =>
    ports.leases.run(LEASE, () => applyCheckpoint(input, peer, ports), peer.cancelled),

  "apply.undo": (input, ports, peer) =>
    ports.leases.run(LEASE, () => undoApply(input, peer, ports), peer.cancelled),

  "apply.continue": (_input, ports, peer) =>
    ports.leases.run(LEASE, () => continueUnfinished(peer, ports), peer.cancelled),

  "apply.abort": (_input, ports, peer) =>
    ports.leases.run(LEASE, () => abortUnfinished(peer, ports), peer.cancelled),

  merge: (input, ports, peer) =>
    withSession(input.session, ports, peer, (session) =>
      ports.leases.run(LEASE, () => {
        const checkpoint = resolveCheckpoint(input.checkpoint, ports.catalog);
        return mergeCheckpoint({ session, checkpoint, dryRun: input.dryRun }, peer, ports);
      }),
    ),
};
