import type { Catalog } from "../catalog/index.ts";
import type { CheckpointRow, SessionRow } from "../model/index.ts";

/** What becomes of the line when checkpoints are taken out of it. */
export interface LineWithout {
  /** Checkpoints whose parent goes, with the parent that they have then. */
  children: CheckpointRow[];
  /** Sessions that stand on one that goes, or come from one, as they are then. */
  sessions: SessionRow[];
}

/** Returns what is to change so that nothing refers to checkpoints that go; changes nothing. */
export function lineWithout(ids: readonly string[], catalog: Catalog): LineWithout {
  const gone = new Set(ids);
  const remaining = (id: string | null) => {
    let at = id;
    while (at !== null && gone.has(at)) at = catalog.checkpoint(at)?.parent ?? null;
    return at;
  };
  const children = catalog
    .checkpoints()
    .filter(({ id, parent }) => !gone.has(id) && parent !== null && gone.has(parent))
    .map((row) => {
      let since = row.unchangedSince;
      while (since !== null && gone.has(since)) {
        since = catalog.checkpoint(since)?.unchangedSince ?? null;
      }
      return { ...row, parent: remaining(row.parent), unchangedSince: since };
    });
  const sessions = catalog
    .sessions()
    .filter(({ head, forkedFrom }) => gone.has(head ?? "") || gone.has(forkedFrom ?? ""))
    .map((row) => ({ ...row, head: remaining(row.head), forkedFrom: remaining(row.forkedFrom) }));
  return { children, sessions };
}
