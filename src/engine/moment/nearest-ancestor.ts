import type { Catalog } from "../../portable/catalog/index.ts";
import type { CheckpointRow } from "../../portable/model/index.ts";
import type { MomentPair } from "./compare-context.ts";

/**
 * Returns the newest checkpoint that two moments descend from, one of them itself perhaps, or
 * `null` where none is known.
 *
 * Both lines are walked at once, so that near relatives are found in a few steps however long the
 * history is.
 */
export function nearestAncestor({ from, to }: MomentPair, catalog: Catalog): CheckpointRow | null {
  const lines = [from, to].map((moment) => ({
    next: moment.checkpoint?.id ?? moment.session?.head ?? null,
    seen: new Set<string>(),
  }));
  while (lines.some(({ next }) => next !== null)) {
    for (const line of lines) {
      const row = line.next === null ? undefined : catalog.checkpoint(line.next);
      line.next = row?.parent ?? null;
      if (row === undefined) continue;
      line.seen.add(row.id);
      if (lines.every(({ seen }) => seen.has(row.id))) return row;
    }
  }
  return null;
}
