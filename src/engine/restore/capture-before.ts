import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import { hasCode, WaypointError } from "../../shared/errors/index.ts";
import { createCheckpoint } from "../checkpoint/index.ts";
import type { Engine } from "../ports/index.ts";

/** What may be lost of what is there now. */
export interface Loss {
  /** Keep files alone for undo when CRIU refuses the running processes. */
  loseProcesses: boolean;
  /** Keep nothing for undo. */
  withoutUndo: boolean;
}

/**
 * Captures what an operation is about to change.
 *
 * @param movesHead  true where the session goes on from it, with some parts replaced.
 * @returns `null` when the user wants no undo.
 * @throws CRIU_DUMP_FAILED | SESSION_UNRESPONSIVE  the processes cannot be captured and the user did
 *   not give them up.
 * @throws STORE_FULL
 */
export async function captureBefore(
  session: SessionRow,
  { intent, movesHead }: { intent: string; movesHead: boolean },
  loss: Loss,
  engine: Engine,
): Promise<CheckpointRow | null> {
  // Nothing is there where the files were removed.
  if (loss.withoutUndo || session.instance === null) return null;
  const options = { trigger: "before-restore", name: null, intent, movesHead } as const;
  try {
    return await createCheckpoint(session, { ...options, filesOnly: false }, engine);
  } catch (error) {
    if (isRefused(error) && loss.loseProcesses) {
      return await createCheckpoint(session, { ...options, filesOnly: true }, engine);
    }
    throw withWayOut(error);
  }
}

/** Whether the processes cannot be captured as they are, while their files can. */
function isRefused(error: unknown): boolean {
  return hasCode(error, "CRIU_DUMP_FAILED") || hasCode(error, "SESSION_UNRESPONSIVE");
}

/** Someone whose session cannot be captured must still be able to go back, knowing what is lost. */
function withWayOut(error: unknown): unknown {
  const wayOut = hasCode(error, "CRIU_DUMP_FAILED")
    ? "`--lose-processes` restores all the same; undo then has the files alone."
    : hasCode(error, "STORE_FULL")
      ? "`--without-undo` restores without keeping what is there now."
      : null;
  if (wayOut === null || !(error instanceof WaypointError)) return error;
  const { code, message, hint, detail } = error;
  return new WaypointError(code, message, {
    hint: hint === null ? wayOut : `${hint} ${wayOut}`,
    detail,
    cause: error,
  });
}
