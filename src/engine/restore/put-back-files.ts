import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import type { FilesPut, OperationDetail, OperationRecord } from "../../shared/protocol/index.ts";
import { openMoment } from "../moment/index.ts";
import type { Engine } from "../ports/index.ts";
import { requireLive } from "../session/index.ts";
import { captureBefore, type Loss } from "./capture-before.ts";
import { type FileAction, refuseOtherKinds } from "./file-actions.ts";
import { ComparedMoments, findHolders } from "./find-actions.ts";
import { putFiles } from "./put-files.ts";
import { type Restored, reachedAt } from "./restore-checkpoint.ts";

/** Which files of which checkpoint to put back, and what the log says of it. */
export interface PutBackFiles {
  kind: Extract<OperationRecord["kind"], "restore" | "undo" | "revert">;
  source: CheckpointRow;
  /** Says what the checkpoint that is taken first is. */
  intent: string;
  find: (pair: ComparedMoments) => Promise<FileAction[]>;
  detail: Pick<OperationDetail, "parts" | "since" | "undoes">;
}

/** What was put back, and which paths it was about. */
export interface PutBack extends Restored {
  files: FilesPut;
  paths: ReadonlySet<string>;
}

/**
 * Puts files back under the processes of a session, which go on.
 *
 * What is there now is checkpointed first, and the paths are noted before the first one changes: so
 * `undo` takes it back, also where it did not come to its end.
 *
 * **Requires** the caller holds the session's lease; the session runs.
 * **On failure** the files are as they were, and the log says `interrupted`.
 *
 * @throws SESSION_WRONG_STATE | FILE_REFUSED | FILE_FAILED | STORE_FULL
 */
export async function putBackFiles(
  session: SessionRow,
  { kind, source, intent, find, detail }: PutBackFiles,
  loss: Loss,
  engine: Engine,
): Promise<PutBack> {
  const startedAtMs = performance.now();
  const live = requireLive(session, engine);
  await using now = await openMoment({ session }, engine);
  await using past = await openMoment({ checkpoint: source }, engine);
  using pair = new ComparedMoments(now, past);
  const actions = await find(pair);
  refuseOtherKinds(actions);
  const heldOpen = findHolders(actions, session.id, engine);
  const found = { session: session.id, ...reachedAt(source), pid: live.pid, bindsLeftOut: [] };
  const paths = new Set(actions.map(({ rawPath }) => rawPath));
  if (actions.length === 0) {
    const readyMs = msSince(startedAtMs);
    const files = { put: 0, removed: 0, leftOut: [], leftOutCount: 0, heldOpen };
    return { ...found, undo: null, undoContent: null, readyMs, totalMs: readyMs, files, paths };
  }

  const before = await captureBefore(session, { intent, movesHead: true }, loss, engine);

  const putStartedAtMs = performance.now();
  const row = { session: session.id, kind, checkpoint: source.id, undo: before?.id ?? null };
  const begun = { ...detail, state: "begun", put: 0, removed: 0 } as const;
  const { operations } = engine.catalog;
  const operation = engine.catalog.transaction(() => {
    const at = new Date().toISOString();
    const id = operations.insert({
      ...{ ...row, at, readyMs: null, stateBefore: session.state, detail: begun },
    });
    operations.putPaths(id, [...paths]);
    return id;
  });
  try {
    const put = await putFiles(actions, { pid: live.pid, id: jobId(operation) }, engine.fileCalls);
    const readyMs = msSince(putStartedAtMs);
    const done = { ...begun, state: "done", put: put.put, removed: put.removed } as const;
    operations.update(operation, { detail: done, readyMs });
    const undo = { undo: before?.id ?? null, undoContent: before?.content ?? null };
    return {
      ...found,
      ...undo,
      readyMs,
      totalMs: msSince(startedAtMs),
      files: { ...put, heldOpen },
      paths,
    };
  } catch (error) {
    noteInterrupted(operation, begun, engine);
    throw error;
  }
}

/** What cannot be noted, on a full disk for instance, the next daemon notes. */
function noteInterrupted(operation: number, begun: OperationDetail, engine: Engine): void {
  try {
    const detail = { ...begun, state: "interrupted" } as const;
    engine.catalog.operations.update(operation, { detail, readyMs: null });
  } catch (error) {
    engine.logger.error("note what was interrupted", error, { operation });
  }
}

/** Returns the name under which an operation makes files before they take their own. */
export function jobId(operation: number): string {
  return `op${operation}`;
}

function msSince(startedAtMs: number): number {
  return Math.round((performance.now() - startedAtMs) * 100) / 100;
}
