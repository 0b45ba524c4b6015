import type { LoggedOperation } from "../../../shared/protocol/index.ts";
import { printable } from "../text/printable.ts";
import { formatClock } from "../text/quantities.ts";
import type { Paint } from "../text/style.ts";
import { type Column, layoutTable } from "../text/table.ts";
import { describeParts, describePaths } from "./render-files-put.ts";

const COLUMNS: readonly Column[] = [
  { title: "OP", align: "right" },
  { title: "WHEN" },
  { title: "SESSION" },
  { title: "WHAT" },
  { title: "BEFORE IT" },
  { title: "TAKE IT BACK" },
];

/** Returns the table of operations. */
export function renderOperations(
  operations: readonly LoggedOperation[],
  { nowMs, paint }: { nowMs: number; paint: Paint },
): string[] {
  if (operations.length === 0) return ["Nothing was done yet."];
  const rows = operations.map((operation) => [
    String(operation.id),
    formatClock(operation.at, nowMs),
    printable(operation.sessionName),
    whatOf(operation),
    operation.undo ?? "-",
    wayBack(operation, paint),
  ]);
  return layoutTable(COLUMNS, rows);
}

function whatOf({ kind, checkpoint, detail }: LoggedOperation): string {
  const parts = detail?.parts == null ? "" : describeParts(detail.parts);
  const paths = detail?.parts == null ? "" : describePaths(detail.parts);
  const state = detail?.state === "done" || detail == null ? "" : ` (${detail.state})`;
  const count = detail?.parts?.only === "files" && state === "" ? counted(detail) : "";
  const to = checkpoint ?? "-";
  switch (kind) {
    case "new":
      return "started";
    case "stop":
      return "stopped";
    case "fork":
      return `forked from ${to}`;
    case "recover":
      return `restored again to ${to}`;
    case "restore":
      return `restored to ${to}${parts}${count}${state}`;
    case "revert":
      return `reverted ${to}..${detail?.since ?? "-"}${paths}${count}${state}`;
    case "apply":
      if (detail?.undoes != null) return `took ${detail.undoes} back, on the machine`;
      return `applied ${to} to the machine`;
    case "merge":
      return `took ${to} in`;
    case "undo":
      return `undid ${detail?.undoes ?? "the last restore"}, to ${to}${parts}${count}${state}`;
  }
}

function counted({ put, removed }: { put: number; removed: number }): string {
  return `: ${put} put back, ${removed} removed`;
}

function wayBack({ undoCommand, whyNot, undoneBy, detail }: LoggedOperation, paint: Paint): string {
  if (undoneBy !== null) return paint("dim", `undone by ${undoneBy}`);
  if (undoCommand === null) return paint("dim", whyNot ?? "-");
  const isHalf = detail?.state === "interrupted";
  return isHalf ? `${printable(undoCommand)}, or do it again` : printable(undoCommand);
}
