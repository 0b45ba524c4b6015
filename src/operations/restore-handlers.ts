import type { Engine } from "../engine/ports/index.ts";
import {
  listOperations,
  planRestore,
  planRevert,
  resolveParts,
  restoreSession,
  revertChanges,
  undoOperation,
} from "../engine/restore/index.ts";
import { requireIdleTerminal } from "../engine/session/index.ts";
import { requireOwnHistory, resolveCheckpoint, resolveSession } from "../portable/lineage/index.ts";
import type { CheckpointRow, SessionRow } from "../portable/model/index.ts";
import type { OperationParsedInput } from "../shared/protocol/index.ts";
import type { HandlersOf } from "./operation-handler.ts";
import { withSession } from "./with-session.ts";

type RestoreOperation = "restore" | "restore.plan" | "undo" | "revert" | "revert.plan" | "op.log";

/** What each operation does that takes something back, or tells what would be. */
export const RESTORE_HANDLERS: HandlersOf<RestoreOperation> = {
  restore: (input, engine, client) =>
    withSession(input.session, engine, client, async (session) => {
      const checkpoint = resolveCheckpoint(input.checkpoint, engine.catalog);
      requireOwnHistory(session, checkpoint, engine.catalog);
      requireIdleTerminal(session, input, engine);
      return await restoreSession(session, checkpoint, input, engine);
    }),

  "restore.plan": async (input, engine, client) => {
    const session = resolveSession(input.session, engine.catalog);
    const checkpoint = resolveCheckpoint(input.checkpoint, engine.catalog);
    requireOwnHistory(session, checkpoint, engine.catalog);
    const parts = await resolveParts(input, session, engine);
    return await planRestore(session, checkpoint, { ...input, parts }, engine, client.cancelled);
  },

  undo: (input, engine, client) =>
    withSession(input.session, engine, client, (session) => {
      requireIdleTerminal(session, input, engine);
      return undoOperation(session, input, engine);
    }),

  revert: (input, engine, client) =>
    withSession(input.session, engine, client, async (session) => {
      const desired = await desiredRevert(session, input, engine);
      return await revertChanges(session, { ...input, ...desired }, engine);
    }),

  "revert.plan": async (input, engine, client) => {
    const session = resolveSession(input.session, engine.catalog);
    return await planRevert(
      session,
      await desiredRevert(session, input, engine),
      engine,
      client.cancelled,
    );
  },

  "op.log": async ({ session }, engine) => {
    const row = session === undefined ? undefined : resolveSession(session, engine.catalog);
    return { operations: listOperations(row, engine) };
  },
};

async function desiredRevert(
  session: SessionRow,
  input: OperationParsedInput<"revert.plan">,
  engine: Engine,
) {
  const [from, to] = [input.from, input.to].map((reference) => {
    const checkpoint = resolveCheckpoint(reference, engine.catalog);
    requireOwnHistory(session, checkpoint, engine.catalog);
    return checkpoint;
  }) as [CheckpointRow, CheckpointRow];
  const parts = await resolveParts({ ...input, only: "files" }, session, engine);
  return { from, to, parts, force: input.force };
}
