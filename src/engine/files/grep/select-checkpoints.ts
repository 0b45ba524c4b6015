import { ancestry, resolveCheckpoint, resolveSession } from "../../../portable/lineage/index.ts";
import type { CheckpointRow } from "../../../portable/model/index.ts";
import { WaypointError } from "../../../shared/errors/index.ts";
import type { OperationParsedInput } from "../../../shared/protocol/index.ts";
import type { Engine } from "../../ports/index.ts";

/** A checkpoint that is searched. */
export interface Searched {
  row: CheckpointRow;
  /** The nearest ancestor that is searched too: only what differs from it is new; else `null`. */
  before: CheckpointRow | null;
}

/** What is searched, newest first. */
export interface Selection {
  searched: readonly Searched[];
  /** Each follows from the one after it, without branches. */
  isOneLine: boolean;
}

/**
 * Returns the checkpoints that a search is about: those named, the history of a session, or all.
 *
 * @throws CHECKPOINT_NOT_FOUND | SESSION_NOT_FOUND | REFERENCE_AMBIGUOUS | USAGE_INVALID
 */
export function selectCheckpoints(
  { checkpoints, session }: Pick<OperationParsedInput<"grep">, "checkpoints" | "session">,
  { catalog }: Engine,
): Selection {
  const rows = new Map(choose().map((row) => [row.id, row]));
  const newestFirst = [...rows.values()].sort((one, other) =>
    one.createdAt < other.createdAt ? 1 : -1,
  );
  const searched = newestFirst.map((row) => ({ row, before: beforeOf(row) }));
  const starts = searched.filter(({ before }) => before === null).length;
  const parents = new Set(searched.map(({ before }) => before?.id));
  return { searched, isOneLine: starts <= 1 && parents.size === searched.length };

  function choose(): CheckpointRow[] {
    if (checkpoints.length > 0 && session !== undefined) {
      throw new WaypointError("USAGE_INVALID", "Checkpoints and a session are both given.", {
        hint: "Name the checkpoints, or a session whose history is searched.",
      });
    }
    if (checkpoints.length > 0) return checkpoints.map((each) => resolveCheckpoint(each, catalog));
    if (session === undefined) return catalog.checkpoints();
    const { id, head } = resolveSession(session, catalog);
    return [...ancestry(head, catalog), ...catalog.checkpoints(id)];
  }

  function beforeOf({ parent, base }: CheckpointRow): CheckpointRow | null {
    const above = ancestry(parent, catalog).find(({ id }) => rows.has(id));
    // Files on different bases have nothing in common.
    return above?.base === base ? above : null;
  }
}
