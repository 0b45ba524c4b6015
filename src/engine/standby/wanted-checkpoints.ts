import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import type { StandbyPolicy } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";

/**
 * Returns the checkpoints that should have a standby: those of the session that moved last come
 * first, and of one session its head, then what an undo goes back to, then older ones.
 */
export function wantedCheckpoints(engine: Engine): CheckpointRow[] {
  const perSession = engine.live.all().flatMap(({ sessionId }) => {
    const session = engine.catalog.session(sessionId);
    return session === undefined ? [] : [wantedOf(session, engine)];
  });
  const newestFirst = perSession.toSorted((a, b) => newest(b).localeCompare(newest(a)));
  const unique = new Map(newestFirst.flat().map((row) => [row.id, row]));
  return [...unique.values()];
}

/** Tells whether anything is to be kept for a session. */
export function wantsStandby(sessionId: string, engine: Engine): boolean {
  const session = engine.catalog.session(sessionId);
  return session !== undefined && policyOf(session, engine) !== "off";
}

/** Returns what is to be kept for a session. */
export function policyOf({ standby }: SessionRow, { settings }: Engine): StandbyPolicy {
  return standby ?? settings.standby.policy;
}

/** Returns the checkpoints of a running session that should have a standby, the head first. */
export function wantedOf(session: SessionRow, engine: Engine): CheckpointRow[] {
  const policy = policyOf(session, engine);
  if (policy === "off") return [];
  const line = newestOf(session, policy === "head" ? 1 : Number(policy), engine);
  const last = engine.catalog.operations.lastMove(session.id);
  // Files that were put back are taken back one by one, under what runs.
  const only = last?.detail?.parts?.only;
  const isWhole = only !== "files" && only !== "state";
  const undoTarget =
    last?.undo == null || !isWhole ? undefined : engine.catalog.checkpoint(last.undo);
  const [head, ...older] = line;
  const wanted = [head, undoTarget, ...older].filter((row) => row !== undefined);
  return wanted.filter(canBeParked);
}

/**
 * Tells whether a checkpoint can have a standby.
 *
 * Not with the host's network, whose ports the session itself holds; not with a bind, on which a
 * parked process could hold a lock that the session waits for.
 */
function canBeParked(row: CheckpointRow): boolean {
  return (
    row.content === "full" && row.heldBy === null && row.net !== "host" && row.binds.length === 0
  );
}

/** Returns a session's head and the checkpoints before it. */
function newestOf({ head }: SessionRow, count: number, { catalog }: Engine): CheckpointRow[] {
  const line: CheckpointRow[] = [];
  for (let id = head; id !== null && line.length < count; ) {
    const row = catalog.checkpoint(id);
    if (row === undefined) break;
    line.push(row);
    id = row.parent;
  }
  return line;
}

function newest(rows: readonly CheckpointRow[]): string {
  const times = rows.map(({ createdAt }) => createdAt).toSorted();
  return times.at(-1) ?? "";
}
