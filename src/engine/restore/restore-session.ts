import { resolveSession } from "../../portable/lineage/index.ts";
import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import { hasCode, WaypointError } from "../../shared/errors/index.ts";
import type { OperationOutput, RestoreParts } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";
import type { BindChoice } from "../session/index.ts";
import { type Account, type AccountChoice, accountFor } from "./append-account.ts";
import type { Loss } from "./capture-before.ts";
import { checkRestore, type Expected } from "./check-restore.ts";
import { type AskedParts, resolveParts } from "./file-scope.ts";
import { findActions } from "./find-actions.ts";
import { putBackFiles } from "./put-back-files.ts";
import { restoreCheckpoint } from "./restore-checkpoint.ts";
import { restoreState } from "./restore-state.ts";

/** What was asked for besides the checkpoint. */
export type RestoreChoice = AskedParts &
  Loss &
  AccountChoice &
  BindChoice & {
    check: boolean;
    /** The agent's state stays as it is, whatever is put back. */
    keepsAgentState?: boolean;
  };

const EVERYTHING: RestoreParts = { only: null, paths: [], except: [] };
const NEVER = new AbortController().signal;

/**
 * Puts a session back to a checkpoint: all of it, its files under what runs now, or its processes on
 * the files of now; and looks, if asked for, whether that is there.
 *
 * **Requires** the caller holds the session's lease; the checkpoint is in its history.
 * **On failure** the session is as it was.
 *
 * @throws what `accountFor`, `restoreCheckpoint` and `putBackFiles` throw.
 */
export async function restoreSession(
  session: SessionRow,
  checkpoint: CheckpointRow,
  choice: RestoreChoice,
  engine: Engine,
): Promise<OperationOutput<"restore">> {
  const parts = await resolveParts(choice, session, engine);
  const account = accountFor(session, checkpoint, parts, choice, engine);
  const restored = await restoreParts(session, checkpoint, { ...choice, parts, account }, engine);
  return { ...restored, account: account.text };
}

async function restoreParts(
  session: SessionRow,
  checkpoint: CheckpointRow,
  choice: Omit<RestoreChoice, "account"> & { parts: RestoreParts; account: Account },
  engine: Engine,
): Promise<OperationOutput<"undo">> {
  const { parts } = choice;
  const told = choice.account.state === undefined ? {} : { agentState: choice.account.state };
  if (parts.only === "state") {
    const how = { kind: "restore", withoutUndo: choice.withoutUndo, ...told } as const;
    return await restoreState(session, checkpoint, how, engine);
  }
  if (parts.only === "files") return await restoreFiles(session, checkpoint, parts, choice, engine);
  const { withoutBinds, loseProcesses, withoutUndo } = choice;
  const options = {
    ...({ kind: "restore", loseProcesses, withoutUndo } as const),
    ...(choice.keepsAgentState === undefined ? {} : { keepsAgentState: choice.keepsAgentState }),
    ...(parts.only === null ? {} : { only: parts.only }),
    ...told,
  };
  const restored = await restoreCheckpoint(
    session,
    { checkpoint, withoutBinds },
    options,
    engine,
  ).catch((error: unknown) => {
    throw parts.only === "processes" ? withReason(error) : error;
  });
  const before = restored.undo === null ? undefined : engine.catalog.checkpoint(restored.undo);
  const filesOf = parts.only === "processes" && before !== undefined ? before : checkpoint;
  const expected = { parts: EVERYTHING, processesOf: checkpoint, filesOf, paths: null };
  return {
    ...restored,
    parts,
    files: null,
    check: await checkIf(choice, session, expected, engine),
  };
}

async function restoreFiles(
  session: SessionRow,
  checkpoint: CheckpointRow,
  parts: RestoreParts,
  choice: Loss & { check: boolean },
  engine: Engine,
): Promise<OperationOutput<"undo">> {
  const { paths, ...put } = await putBackFiles(
    session,
    {
      kind: "restore",
      source: checkpoint,
      intent: `before files of ${checkpoint.name ?? checkpoint.id} were put back`,
      find: (pair) => findActions(pair, parts, engine, NEVER),
      detail: { parts, since: null, undoes: null },
    },
    choice,
    engine,
  );
  const expected = { parts, processesOf: null, filesOf: checkpoint, paths: null };
  return { ...put, parts, check: await checkIf(choice, session, expected, engine) };
}

/** Looks at what is there now; `session` may be older than the restore. */
export async function checkIf(
  { check }: { check: boolean },
  { id }: SessionRow,
  expected: Expected,
  engine: Engine,
): Promise<OperationOutput<"restore">["check"]> {
  if (!check) return null;
  return await checkRestore(resolveSession(id, engine.catalog), expected, engine, NEVER);
}

/** CRIU compares the files that a program had open with those that are there. */
function withReason(error: unknown): unknown {
  if (!hasCode(error, "CRIU_RESTORE_FAILED")) return error;
  const { code, message, hint, detail } = error;
  const reason =
    "Programs of then had files open that are missing or different now: restore everything, or put these files back first with --path.";
  return new WaypointError(code, message, {
    hint: hint === null ? reason : `${reason} ${hint}`,
    detail,
    cause: error,
  });
}
