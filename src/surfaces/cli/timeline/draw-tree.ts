import type { LaneRow } from "./lanes.ts";

/** Returns the tree beside a checkpoint: "│ ● ". */
export function drawNode(row: LaneRow, mark: string): string {
  return row.cells
    .map((cell) => (cell === "node" ? mark : cell === "pass" ? "│" : " "))
    .join(" ")
    .trimEnd();
}

/** Returns the lines below a checkpoint where further branches begin: "├─╮". */
export function drawOpenings(row: LaneRow): string[] {
  if (row.opened.length === 0) return [];
  const last = Math.max(...row.opened);
  const width = Math.max(row.cells.length, last + 1);
  let line = "";
  for (let lane = 0; lane < width; lane += 1) {
    line += openingCell(row, lane, last);
    line += lane >= row.lane && lane < last ? "─" : " ";
  }
  return [line.trimEnd()];
}

/** Returns the tree beside something that happened between two checkpoints: "│ │". */
export function drawPassing(row: LaneRow | undefined): string {
  if (row === undefined) return "";
  const lanes = row.cells.map((cell, lane) => {
    return cell === "empty" ? " " : lane === row.lane && !row.isContinued ? " " : "│";
  });
  for (const lane of row.opened) lanes[lane] = "│";
  return Array.from(lanes, (cell) => cell ?? " ")
    .join(" ")
    .trimEnd();
}

function openingCell(row: LaneRow, lane: number, last: number): string {
  const isPassing = row.cells[lane] === "pass";
  if (lane === row.lane) return "├";
  if (row.opened.includes(lane)) return lane === last ? "╮" : "┬";
  if (lane > row.lane && lane < last) return isPassing ? "┼" : "─";
  return isPassing ? "│" : " ";
}
