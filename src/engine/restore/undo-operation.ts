import type { CheckpointRow, OperationRow, SessionRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { OperationOutput, RestoreParts } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";
import type { BindChoice } from "../session/index.ts";
import type { Loss } from "./capture-before.ts";
import { actionsFor } from "./file-actions.ts";
import { reasonAgainst } from "./list-operations.ts";
import { putBackFiles } from "./put-back-files.ts";
import { restoreCheckpoint } from "./restore-checkpoint.ts";
import { checkIf } from "./restore-session.ts";
import { restoreState } from "./restore-state.ts";

/** What was asked for besides the session. */
export interface UndoChoice extends Loss, BindChoice {
  /** The operation to take back; the last restore, undo, revert or merge if it is not given. */
  operation?: number | undefined;
  check: boolean;
}

const EVERYTHING: RestoreParts = { only: null, paths: [], except: [] };

/** An operation that can be taken back, and the checkpoint of what was there before it. */
export interface Undoable {
  operation: OperationRow;
  before: CheckpointRow;
}

/**
 * Takes an operation back, and can be taken back in turn.
 *
 * A restore is taken back as a whole: the session is again as it was before it. An agent's state that
 * the restore had left alone stays. Files that were put
 * back or reverted under a running session are, and only these, as they were before; what runs goes
 * on.
 *
 * **Requires** the caller holds the session's lease.
 *
 * @throws NOTHING_TO_UNDO, and what `restoreCheckpoint` and `putBackFiles` throw.
 */
export async function undoOperation(
  session: SessionRow,
  choice: UndoChoice,
  engine: Engine,
): Promise<OperationOutput<"undo">> {
  const { operation, before } = findUndoable(session, choice.operation, engine);
  if (isOfFiles(operation)) return await undoFiles(session, { operation, before }, choice, engine);
  const { withoutBinds, loseProcesses, withoutUndo } = choice;
  const only = operation.detail?.parts?.only ?? null;
  const undoing = { kind: "undo", withoutUndo, undoes: operation.id } as const;
  if (only === "state") return await restoreState(session, before, undoing, engine);
  const options = { ...undoing, loseProcesses, keepsAgentState: only !== null };
  const from = { checkpoint: before, withoutBinds };
  const restored = await restoreCheckpoint(session, from, options, engine);
  const expected = { parts: EVERYTHING, processesOf: before, filesOf: before, paths: null };
  const check = await checkIf(choice, session, expected, engine);
  return { ...restored, parts: EVERYTHING, files: null, check };
}

/** Returns what is to be taken back. @throws NOTHING_TO_UNDO */
export function findUndoable(
  session: SessionRow,
  number: number | undefined,
  { catalog }: Engine,
): Undoable {
  const operation =
    number === undefined ? catalog.operations.lastMove(session.id) : catalog.operations.get(number);
  const isOwn = operation?.session === session.id;
  const before = operation?.undo == null ? undefined : catalog.checkpoint(operation.undo);
  if (operation !== undefined && isOwn && before !== undefined) return { operation, before };
  const known = isOwn ? operation : undefined;
  throw new WaypointError("NOTHING_TO_UNDO", describeNothing(session, number, known, catalog), {
    hint:
      known?.kind === "apply"
        ? `It changed files of this machine: \`waypoint apply --undo ${number}\` takes it back.`
        : number === undefined && known === undefined
          ? "`waypoint log` lists the checkpoints that it can be put back to."
          : `\`waypoint op log ${session.name}\` lists its operations and which can be undone.`,
    detail: { session: session.id, operation: number ?? null },
  });
}

/** One that kept nothing is not passed over: who takes "the last one" back means that one. */
function describeNothing(
  { name }: SessionRow,
  number: number | undefined,
  operation: OperationRow | undefined,
  catalog: Engine["catalog"],
): string {
  if (operation === undefined) {
    return number === undefined
      ? `Session ${name} has no operation to undo.`
      : `Session ${name} has no operation ${number}.`;
  }
  const why = reasonAgainst(operation, (id) => catalog.checkpoint(id) !== undefined);
  const because = why === null ? "" : `: ${why}`;
  return number === undefined
    ? `The last restore, undo, revert or merge of session ${name}, operation ${operation.id}, cannot be undone${because}.`
    : `Operation ${operation.id} of session ${name} cannot be undone${because}.`;
}

/** Tells whether an operation changed single files of a session whose processes went on. */
export function isOfFiles({ detail }: Pick<OperationRow, "detail">): boolean {
  return detail?.parts?.only === "files";
}

async function undoFiles(
  session: SessionRow,
  { operation, before }: Undoable,
  choice: UndoChoice,
  engine: Engine,
): Promise<OperationOutput<"undo">> {
  const touched = engine.catalog.operations.paths(operation.id);
  const parts = operation.detail?.parts ?? EVERYTHING;
  const { paths: _, ...put } = await putBackFiles(
    session,
    {
      kind: "undo",
      source: before,
      intent: `before the undo of operation ${operation.id}`,
      find: async ({ files }) => actionsFor(touched, files),
      detail: { parts, since: null, undoes: operation.id },
    },
    choice,
    engine,
  );
  const expected = { parts, processesOf: null, filesOf: before, paths: new Set(touched) };
  return { ...put, parts, check: await checkIf(choice, session, expected, engine) };
}
