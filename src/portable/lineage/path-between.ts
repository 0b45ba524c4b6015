import { WaypointError } from "../../shared/errors/index.ts";
import type { Catalog } from "../catalog/index.ts";
import type { CheckpointRow } from "../model/index.ts";
import { ancestry } from "./ancestry.ts";

/**
 * Returns the checkpoints from an ancestor to one that descends from it, both included.
 *
 * @throws USAGE_INVALID            both are the same.
 * @throws CHECKPOINT_NOT_ANCESTOR  the detail names the nearest ancestor of both, if there is one.
 */
export function pathBetween(
  from: CheckpointRow,
  to: CheckpointRow,
  catalog: Catalog,
): CheckpointRow[] {
  if (from.id === to.id) {
    throw new WaypointError(
      "USAGE_INVALID",
      `Both ends are the same checkpoint, ${titled(from)}: there is nothing between them.`,
      { hint: "`waypoint log` lists the checkpoints." },
    );
  }
  const line = ancestry(to.id, catalog);
  const length = line.findIndex(({ id }) => id === from.id);
  if (length === -1) throw notAncestor({ from, to, line }, catalog);
  return line.slice(0, length + 1).reverse();
}

function notAncestor(
  { from, to, line }: { from: CheckpointRow; to: CheckpointRow; line: readonly CheckpointRow[] },
  catalog: Catalog,
): WaypointError {
  const ancestors = new Set(catalog.line(from.id).map(({ id }) => id));
  const common = line.find(({ id }) => ancestors.has(id));
  const fact = `Checkpoint ${titled(to)} does not descend from ${titled(from)}`;
  const detail = { from: from.id, to: to.id, commonAncestor: common?.id ?? null };
  if (common === undefined) {
    const why = `${fact}, and both have no ancestor in common.`;
    const hint = "Choose two of one branch; `waypoint log` draws the branches.";
    return new WaypointError("CHECKPOINT_NOT_ANCESTOR", why, { hint, detail });
  }
  if (common.id === to.id) {
    const hint = `Name them the other way round: first ${to.id}, then ${from.id}.`;
    return new WaypointError("CHECKPOINT_NOT_ANCESTOR", `${fact}: it is the other way round.`, {
      hint,
      detail,
    });
  }
  return new WaypointError(
    "CHECKPOINT_NOT_ANCESTOR",
    `${fact}; their common ancestor is ${titled(common)}.`,
    { hint: `Begin there: ${common.id} instead of ${from.id}.`, detail },
  );
}

function titled({ id, name }: CheckpointRow): string {
  return name === null ? id : `${id} (${name})`;
}
