import type { StateRoot } from "../../portable/agent-state/index.ts";
import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import type { OperationOutput, RestoreParts } from "../../shared/protocol/index.ts";
import { createCheckpoint, roundMs } from "../checkpoint/index.ts";
import type { Engine } from "../ports/index.ts";
import type { Loss } from "./capture-before.ts";
import { reachedAt } from "./restore-checkpoint.ts";

const STATE_ALONE: RestoreParts = { only: "state", paths: [], except: [] };

/**
 * Puts the agent's state back to that of a checkpoint; machine and files go on.
 *
 * What is there now is kept with a checkpoint of the files, which disturbs nobody: so a session that
 * cannot be captured, or does not run, has its agent's state put back all the same.
 *
 * **Requires** the caller holds the session's lease.
 * **On failure** the state is as it was.
 *
 * @throws STORE_FULL
 */
export async function restoreState(
  session: SessionRow,
  checkpoint: CheckpointRow,
  {
    kind,
    undoes,
    withoutUndo,
    agentState = () => checkpoint.agentState,
  }: {
    kind: "restore" | "undo";
    undoes?: number;
    /** @defaultValue that of the checkpoint */
    agentState?: () => StateRoot;
  } & Pick<Loss, "withoutUndo">,
  engine: Engine,
): Promise<OperationOutput<"undo">> {
  const startedAtMs = performance.now();
  const before =
    withoutUndo || session.instance === null
      ? null
      : await createCheckpoint(session, beforeStateOf(checkpoint), engine);
  const detail = {
    ...({ parts: STATE_ALONE, since: null, state: "done" } as const),
    ...{ undoes: undoes ?? null, put: 0, removed: 0 },
  };
  const readyMs = roundMs(performance.now() - startedAtMs);
  engine.catalog.transaction(() => {
    engine.catalog.updateSession(session.id, { agentState: agentState() });
    engine.catalog.operations.insert({
      ...{ session: session.id, kind, checkpoint: checkpoint.id, undo: before?.id ?? null },
      ...{ at: new Date().toISOString(), readyMs, stateBefore: session.state, detail },
    });
  });
  return {
    ...{ session: session.id, ...reachedAt(checkpoint), parts: STATE_ALONE },
    ...{ undo: before?.id ?? null, undoContent: before?.content ?? null },
    ...{ readyMs, totalMs: roundMs(performance.now() - startedAtMs), bindsLeftOut: [] },
    ...{ pid: engine.live.get(session.id)?.pid ?? null, files: null, check: null },
  };
}

function beforeStateOf({ id, name }: CheckpointRow) {
  const intent = `before the agent's state of ${name ?? id} was put back`;
  const options = { trigger: "before-restore", name: null, filesOnly: true } as const;
  return { ...options, intent, movesHead: false };
}
