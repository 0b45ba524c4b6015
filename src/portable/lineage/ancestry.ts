import { WaypointError } from "../../shared/errors/index.ts";
import type { Catalog } from "../catalog/index.ts";
import type { CheckpointRow, SessionRow } from "../model/index.ts";

/** Returns a checkpoint and all its ancestors, newest first. */
export function ancestry(checkpointId: string | null, catalog: Catalog): CheckpointRow[] {
  const line: CheckpointRow[] = [];
  for (let id = checkpointId; id !== null; ) {
    const row = catalog.checkpoint(id);
    if (row === undefined) break;
    line.push(row);
    id = row.parent;
  }
  return line;
}

/** Returns the checkpoints of a session's timeline, oldest first: its own and where it comes from. */
export function historyOf(session: SessionRow, catalog: Catalog): CheckpointRow[] {
  const own = new Set(catalog.checkpoints(session.id).map(({ id }) => id));
  for (const { id } of catalog.line(session.head)) own.add(id);
  return catalog.checkpoints().filter(({ id }) => own.has(id));
}

/**
 * Checks that a session may be put back to a checkpoint: its own, or one that it descends from.
 *
 * @throws CHECKPOINT_OF_OTHER_SESSION
 */
export function requireOwnHistory(
  session: SessionRow,
  checkpoint: CheckpointRow,
  catalog: Catalog,
): void {
  if (checkpoint.session === session.id) return;
  if (catalog.line(session.head).some(({ id }) => id === checkpoint.id)) return;
  const forkedFrom = catalog.line(session.forkedFrom);
  if (forkedFrom.some(({ id }) => id === checkpoint.id)) return;
  const other = catalog.session(checkpoint.session) === undefined ? "a removed session" : "session";
  const base = checkpoint.base === session.base ? "" : `, and on another base, ${checkpoint.base}`;
  throw new WaypointError(
    "CHECKPOINT_OF_OTHER_SESSION",
    `Checkpoint ${checkpoint.id} is of ${other} ${checkpoint.sessionName}, not in the history of ${session.name}${base}.`,
    {
      hint: `\`waypoint fork ${checkpoint.id}\` starts a new session from it.`,
      detail: { session: checkpoint.session },
    },
  );
}

/**
 * Returns the checkpoints that nobody needs once `session` is gone: its own and those of sessions
 * removed earlier, but for the ones that another session stands on or descends from.
 */
export function removableCheckpoints(session: SessionRow, catalog: Catalog): CheckpointRow[] {
  const all = catalog.lines();
  const parents = new Map(all.map(({ id, parent }) => [id, parent]));
  const needed = new Set<string>();
  // What one of them descends from is gone through once: there may be thousands.
  const mark = (from: string | null) => {
    for (let id = from; id !== null && !needed.has(id); id = parents.get(id) ?? null)
      needed.add(id);
  };
  for (const other of catalog.sessions()) {
    if (other.id === session.id) continue;
    mark(other.head);
    mark(other.forkedFrom);
  }
  const others = new Set(catalog.sessions().map(({ id }) => id));
  others.delete(session.id);
  for (const row of all) if (others.has(row.session)) mark(row.id);
  const free = all.filter(({ id }) => !needed.has(id));
  return free.flatMap(({ id }) => catalog.checkpoint(id) ?? []);
}
