import {
  listOperations,
  planRestore,
  planRevert,
  resolveParts,
  restoreSession,
  revertChanges,
  undoOperation,
} from "../engine/restore/index.ts";
import { type EnginePorts, requireNobodyTypes, type StreamPeer } from "../engine/session/index.ts";
import type { CheckpointRow, SessionRow } from "../portable/catalog/index.ts";
import { requireOwnHistory, resolveCheckpoint, resolveSession } from "../portable/lineage/index.ts";
import type { OperationOutput, OperationParsedInput } from "../shared/protocol/index.ts";
import { withSession } from "./with-session.ts";

type GoingBack = "restore" | "restore.plan" | "undo" | "revert" | "revert.plan" | "op.log";

/** What each operation does that takes something back, or tells what would be. */
export const GOING_BACK_HANDLERS: {
  [N in GoingBack]: (
    input: OperationParsedInput<N>,
    ports: EnginePorts,
    peer: StreamPeer,
  ) => Promise<OperationOutput<N>>;
} = {
  restore: (input, ports, peer) =>
    withSession(input.session, ports, peer, async (session) => {
      const checkpoint = resolveCheckpoint(input.checkpoint, ports.catalog);
      requireOwnHistory(session, checkpoint, ports.catalog);
      requireNobodyTypes(session, input, ports);
      return await restoreSession(session, checkpoint, input, ports);
    }),

  "restore.plan": async (input, ports, peer) => {
    const session = resolveSession(input.session, ports.catalog);
    const checkpoint = resolveCheckpoint(input.checkpoint, ports.catalog);
    requireOwnHistory(session, checkpoint, ports.catalog);
    const parts = await resolveParts(input, session, ports);
    return await planRestore(session, checkpoint, { ...input, parts }, ports, peer.cancelled);
  },

  undo: (input, ports, peer) =>
    withSession(input.session, ports, peer, (session) => {
      requireNobodyTypes(session, input, ports);
      return undoOperation(session, input, ports);
    }),

  revert: (input, ports, peer) =>
    withSession(input.session, ports, peer, async (session) => {
      const wish = await revertWish(session, input, ports);
      return await revertChanges(session, { ...input, ...wish }, ports);
    }),

  "revert.plan": async (input, ports, peer) => {
    const session = resolveSession(input.session, ports.catalog);
    return await planRevert(
      session,
      await revertWish(session, input, ports),
      ports,
      peer.cancelled,
    );
  },

  "op.log": async ({ session }, ports) => {
    const row = session === undefined ? undefined : resolveSession(session, ports.catalog);
    return { operations: listOperations(row, ports) };
  },
};

async function revertWish(
  session: SessionRow,
  input: OperationParsedInput<"revert.plan">,
  ports: EnginePorts,
) {
  const [from, to] = [input.from, input.to].map((reference) => {
    const checkpoint = resolveCheckpoint(reference, ports.catalog);
    requireOwnHistory(session, checkpoint, ports.catalog);
    return checkpoint;
  }) as [CheckpointRow, CheckpointRow];
  const parts = await resolveParts({ ...input, only: "files" }, session, ports);
  return { from, to, parts, force: input.force };
}
