import { createCheckpoint } from "../engine/checkpoint/index.ts";
import type { Engine } from "../engine/ports/index.ts";
import { restoreSession } from "../engine/restore/index.ts";
import { describeSession } from "../engine/session/index.ts";
import { resolveSession, standOf } from "../portable/lineage/index.ts";
import type { CheckpointRow, SessionRow } from "../portable/model/index.ts";
import { WaypointError } from "../shared/errors/index.ts";
import type { OperationOutput, OperationParsedInput } from "../shared/protocol/index.ts";

/** What a session is started from. */
interface StartSource {
  checkpoint: CheckpointRow;
  /** Its files are those of the checkpoint: nothing else is there to keep. */
  isAsLeft: boolean;
}

/**
 * Starts a session again whose processes have ended.
 *
 * **Requires** the caller holds the session's lease.
 * **On success** it runs, and `undo` brings back what was there until then.
 * **On failure** it is as it was, but for a checkpoint of its files.
 *
 * @throws SESSION_WRONG_STATE  it runs.
 * @throws CHECKPOINT_NOT_FOUND  it has no files and no checkpoint.
 * @throws CRIU_RESTORE_FAILED | CHECKPOINT_INCOMPLETE | STORE_FULL | BIND_SOURCE_MISSING
 */
export async function startSession(
  session: SessionRow,
  { fresh, withoutBinds }: OperationParsedInput<"start">,
  engine: Engine,
): Promise<OperationOutput<"start">> {
  requireNoProcesses(session, engine);
  const { checkpoint, isAsLeft } = await findSource(session, fresh, engine);
  const restored = await restoreSession(
    resolveSession(session.id, engine.catalog),
    checkpoint,
    {
      ...{ only: undefined, paths: [], except: [], check: false, loseProcesses: false },
      ...{ withoutBinds, withoutUndo: isAsLeft, keepsAgentState: isAsLeft },
    },
    engine,
  );
  return {
    session: describeSession(resolveSession(session.id, engine.catalog), engine),
    checkpoint: checkpoint.id,
    takenAt: checkpoint.createdAt,
    hasProcesses: checkpoint.content === "full",
    undo: restored.undo,
    readyMs: restored.readyMs,
    bindsLeftOut: restored.bindsLeftOut,
  };
}

async function findSource(
  session: SessionRow,
  isFresh: boolean,
  engine: Engine,
): Promise<StartSource> {
  const { catalog } = engine;
  const head = session.head === null ? undefined : catalog.checkpoint(session.head);
  if (head?.content === "full" && !isFresh) {
    return { checkpoint: head, isAsLeft: wasStoppedAt(session, head, engine) };
  }
  if (session.instance === null) return { checkpoint: standOf(session, catalog), isAsLeft: true };
  const options = { trigger: "before-restore", intent: "as it was left", name: null } as const;
  const files = { ...options, filesOnly: true, movesHead: true };
  return { checkpoint: await createCheckpoint(session, files, engine), isAsLeft: true };
}

/** The stop took it, and nothing has come after. */
function wasStoppedAt({ id }: SessionRow, head: CheckpointRow, { catalog }: Engine): boolean {
  // An agent's state that was put back has left the machine as it was.
  const last = catalog.operations.all(id).findLast(({ detail }) => detail?.parts?.only !== "state");
  return last?.kind === "stop" && last.undo === head.id;
}

function requireNoProcesses({ id, name, state }: SessionRow, { live }: Engine): void {
  if (live.get(id) === undefined && state !== "running") return;
  throw new WaypointError("SESSION_WRONG_STATE", `Session ${name} is running already.`, {
    hint: `\`waypoint attach ${name}\` connects to it.`,
  });
}
