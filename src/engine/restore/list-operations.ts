import type { OperationRow, SessionRow } from "../../portable/model/index.ts";
import type { LoggedOperation, OperationRecord } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";

/** Why an operation of each kind cannot be taken back; `null` where it can. */
const WHY_NOT: Readonly<Record<OperationRecord["kind"], string | null>> = {
  new: "a session that was started is removed with `waypoint rm`",
  fork: "a fork is removed with `waypoint rm`",
  stop: "a session that was stopped is started again with `waypoint restore`",
  recover: "Waypoint restored it again by itself",
  ...{ restore: null, undo: null, revert: null, apply: null, merge: null },
};

/** Returns what was done to one session, or to all of them, oldest first. */
export function listOperations(
  session: SessionRow | undefined,
  { catalog }: Engine,
): LoggedOperation[] {
  const rows = catalog.operations.all(session?.id);
  const names = new Map(catalog.sessions().map(({ id, name }) => [id, name]));
  const undoneBy = new Map(rows.map(({ id, detail }) => [detail?.undoes ?? null, id]));
  return rows.map((row) => {
    const { stateBefore: _, ...record } = row;
    const sessionName = names.get(row.session) ?? row.session;
    const whyNot = reasonAgainst(row, (id) => catalog.checkpoint(id) !== undefined);
    return {
      ...record,
      ...{ sessionName, whyNot, undoneBy: undoneBy.get(row.id) ?? null },
      undoCommand: whyNot === null ? `waypoint undo ${sessionName} ${row.id}` : null,
    };
  });
}

/** Returns why an operation cannot be taken back; `null` where it can, and of an apply, which `apply` takes back. */
export function reasonAgainst(
  { kind, undo }: OperationRow,
  isThere: (id: string) => boolean,
): string | null {
  const reason = WHY_NOT[kind];
  if (reason !== null) return reason;
  // What it has replaced is kept beside its plan, not in a checkpoint.
  if (kind === "apply") return null;
  if (undo === null) return "what was there before was not captured";
  return isThere(undo) ? null : `checkpoint ${undo} of what was there before is gone`;
}
