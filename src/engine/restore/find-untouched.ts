import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import type { RestorePlan } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";

/**
 * Returns what a restore of a session leaves alone: the other sessions, and forks that stand by, but
 * for that of the checkpoint itself, which the restore may take.
 */
export function findUntouched(
  session: SessionRow,
  target: CheckpointRow,
  { catalog, standbys }: Engine,
): RestorePlan["untouched"] {
  const own = new Set(catalog.checkpoints(session.id).map(({ id }) => id));
  for (const { id } of catalog.line(session.head)) own.add(id);
  const others = catalog.sessions().filter(({ id }) => id !== session.id);
  return {
    sessions: others.map((other) => ({
      ...{ id: other.id, name: other.name, state: other.state },
      isRelated: [other.head, other.forkedFrom]
        .flatMap((id) => catalog.line(id))
        .some(({ id }) => own.has(id)),
    })),
    standbys: catalog
      .timeline()
      .map(({ id }) => id)
      .filter((id) => id !== target.id && standbys.has(id)),
  };
}
