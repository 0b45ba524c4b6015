import type {
  Checkpoint,
  OperationOutput,
  OperationRecord,
  Session,
} from "../../protocol/index.ts";
import { printable } from "../text/printable.ts";
import { formatClock, formatDuration } from "../text/quantities.ts";
import type { Paint } from "../text/style.ts";
import { verificationMark } from "../text/verification-mark.ts";
import { describeOperation } from "./describe-operation.ts";
import { drawNode, drawOpenings, drawPassing } from "./draw-tree.ts";
import { fitLines, type TimelineLine } from "./fit-lines.ts";
import { assignLanes, type LaneRow } from "./lanes.ts";
import { shortenIds } from "./shorten-ids.ts";

/** How the timeline is drawn. */
export interface TimelineOptions {
  nowMs: number;
  /** Columns to fit into; `Infinity` cuts nothing. */
  columns: number;
  paint: Paint;
}

/** Returns the timeline, newest last: checkpoints as a tree, operations between them. */
export function renderTimeline(log: OperationOutput<"log">, options: TimelineOptions): string[] {
  if (log.checkpoints.length === 0 && log.operations.length === 0) {
    return ["No checkpoints yet. Make one with `waypoint checkpoint`."];
  }
  const checkpoints = log.checkpoints.toSorted(byTime((checkpoint) => checkpoint.createdAt));
  const operations = log.operations.toSorted(byTime((operation) => operation.at));
  const lines = buildLines({ ...log, checkpoints, operations }, options);
  return fitLines(lines, options);
}

function byTime<T>(instantOf: (item: T) => string): (a: T, b: T) => number {
  return (a, b) => Date.parse(instantOf(a)) - Date.parse(instantOf(b));
}

function buildLines(log: OperationOutput<"log">, options: TimelineOptions): TimelineLine[] {
  const ids = shortenIds(log.checkpoints.map(({ id }) => id));
  const rows = assignLanes(log.checkpoints);
  const lines: TimelineLine[] = [];
  const pending = [...log.operations];
  let last: LaneRow | undefined;
  const addOperationsUntil = (untilMs: number) => {
    while (pending[0] !== undefined && Date.parse(pending[0].at) <= untilMs) {
      const operation = pending.shift() as OperationRecord;
      const title = describeOperation(operation, { sessions: log.sessions, ids });
      const at = formatClock(operation.at, options.nowMs);
      lines.push({ ...emptyLine(at, drawPassing(last)), title });
    }
  };
  for (const [index, checkpoint] of log.checkpoints.entries()) {
    const row = rows[index] as LaneRow;
    // A restore's own checkpoint is taken before it; the operation's time is when it was done.
    addOperationsUntil(Date.parse(checkpoint.createdAt) - 1);
    lines.push(checkpointLine(checkpoint, { row, ids, sessions: log.sessions, options }));
    for (const tree of drawOpenings(row)) lines.push(emptyLine("", tree));
    last = row;
  }
  addOperationsUntil(Number.POSITIVE_INFINITY);
  return lines;
}

function emptyLine(at: string, tree: string): TimelineLine {
  return { at, tree, id: "", title: "", changes: "", pause: "", standing: [] };
}

function checkpointLine(
  checkpoint: Checkpoint,
  how: {
    row: LaneRow;
    ids: ReadonlyMap<string, string>;
    sessions: readonly Session[];
    options: TimelineOptions;
  },
): TimelineLine {
  const { row, ids, sessions } = how;
  const { paint, nowMs } = how.options;
  const mark = checkpoint.content === "files" ? "○" : "●";
  const standing = sessions.filter(({ head }) => head === checkpoint.id);
  return {
    at: formatClock(checkpoint.createdAt, nowMs),
    tree: drawNode(row, mark),
    id: `${verificationMark(checkpoint.verification, paint)} ${paint("yellow", shortId(ids, checkpoint.id))}`,
    title: titleOf(checkpoint, { row, ids, paint }),
    changes: printable(checkpoint.changes.summary),
    pause: formatDuration(checkpoint.pauseMs),
    standing: standing.map(({ name }) => printable(name)),
  };
}

function titleOf(
  checkpoint: Checkpoint,
  { row, ids, paint }: { row: LaneRow; ids: ReadonlyMap<string, string>; paint: Paint },
): string {
  const { name, intent, trigger, parent } = checkpoint;
  const isManual = trigger === "manual";
  const said = intent ?? (isManual ? "" : trigger.replaceAll("-", " "));
  const from =
    row.isDetached && parent !== null ? paint("dim", `(from ${shortId(ids, parent)})`) : "";
  return [
    name === null ? "" : paint("bold", printable(name)),
    isManual || said === "" ? printable(said) : paint("dim", printable(said)),
    from,
  ]
    .filter((part) => part !== "")
    .join(" ");
}

function shortId(ids: ReadonlyMap<string, string>, id: string): string {
  return ids.get(id) ?? id;
}
