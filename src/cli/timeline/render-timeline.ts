import type {
  Checkpoint,
  OperationOutput,
  OperationRecord,
  Session,
} from "../../protocol/index.ts";
import { displayWidth, pad, truncate } from "../text/display-width.ts";
import { printable } from "../text/printable.ts";
import { formatClock, formatDuration } from "../text/quantities.ts";
import type { Paint } from "../text/style.ts";
import { describeOperation } from "./describe-operation.ts";
import { drawNode, drawOpenings, drawPassing } from "./draw-tree.ts";
import { assignLanes, type LaneRow } from "./lanes.ts";
import { shortenIds } from "./shorten-ids.ts";

/** How the timeline is drawn. */
export interface TimelineOptions {
  nowMs: number;
  /** Columns to fit into; `Infinity` cuts nothing. */
  columns: number;
  paint: Paint;
}

/** One line of the timeline before it is fitted into the terminal. */
interface TimelineLine {
  at: string;
  tree: string;
  /** Marks and id of a checkpoint; empty for anything else. */
  id: string;
  title: string;
  changes: string;
  pause: string;
  /** Sessions that stand here. */
  standing: string;
}

const GAP = "  ";
const TITLE_COLUMNS_MIN = 24;

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
      lines.push({ ...emptyLine(at, drawPassing(last)), title: options.paint("dim", title) });
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
  return { at, tree, id: "", title: "", changes: "", pause: "", standing: "" };
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
    id: `${verificationMark(checkpoint, paint)} ${paint("yellow", shortId(ids, checkpoint.id))}`,
    title: titleOf(checkpoint, { row, ids, paint }),
    changes: printable(checkpoint.changes.summary),
    pause: formatDuration(checkpoint.pauseMs),
    standing: standing.map(({ name }) => paint("green", `● ${printable(name)}`)).join(" "),
  };
}

function verificationMark({ verification }: Checkpoint, paint: Paint): string {
  if (verification === null) return " ";
  return verification.exitCode === 0 ? paint("green", "✓") : paint("red", "✗");
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

/** Fits the lines into the terminal: first the title gets shorter, then facts are left out. */
function fitLines(lines: readonly TimelineLine[], { columns }: TimelineOptions): string[] {
  const widthOf = (field: keyof TimelineLine) =>
    Math.max(0, ...lines.filter(isAbout(field)).map((line) => displayWidth(line[field])));
  const isNarrow = columns < 60;
  const widths = {
    at: isNarrow ? 0 : widthOf("at"),
    tree: widthOf("tree"),
    id: widthOf("id"),
    changes: widthOf("changes"),
    pause: widthOf("pause"),
    standing: widthOf("standing"),
  };
  const titleColumns = () => {
    const taken = Object.values(widths).filter((width) => width > 0);
    return columns - taken.reduce((sum, width) => sum + width + GAP.length, 0);
  };
  for (const field of ["changes", "pause"] as const) {
    if (titleColumns() < TITLE_COLUMNS_MIN) widths[field] = 0;
  }
  const titleWidth = Math.max(8, Math.min(widthOf("title"), titleColumns()));
  return lines.map((line) =>
    line.id === ""
      ? layoutSentence(line, widths, columns)
      : layoutCheckpoint(line, { ...widths, title: titleWidth }),
  );
}

/** What happened between checkpoints is a sentence: it has no part in the width of the titles. */
function isAbout(field: keyof TimelineLine) {
  return (line: TimelineLine) => field !== "title" || line.id !== "";
}

/** A sentence may use the columns of a checkpoint's facts. */
function layoutSentence(
  line: TimelineLine,
  widths: { at: number; tree: number },
  columns: number,
): string {
  const place = cells([
    [line.at, widths.at],
    [line.tree, widths.tree],
  ]);
  const head = `${place}${GAP}`;
  return `${head}${truncate(line.title, columns - displayWidth(head))}`.trimEnd();
}

function layoutCheckpoint(line: TimelineLine, widths: Record<keyof TimelineLine, number>): string {
  return cells([
    [line.at, widths.at],
    [line.tree, widths.tree],
    [line.id, widths.id],
    [truncate(line.title, widths.title), widths.title],
    [truncate(line.changes, widths.changes), widths.changes],
    [pad(line.pause, widths.pause, "right"), widths.pause],
    [line.standing, widths.standing],
  ]).trimEnd();
}

function cells(parts: readonly (readonly [string, number])[]): string {
  return parts
    .filter(([, width]) => width > 0)
    .map(([text, width]) => pad(text, width))
    .join(GAP);
}
