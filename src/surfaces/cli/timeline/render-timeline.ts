import type { Checkpoint, OperationOutput, Session } from "../../../shared/protocol/index.ts";
import { tellAutomatic } from "../tell-automatic.ts";
import { wrap } from "../text/display-width.ts";
import { printable } from "../text/printable.ts";
import { formatDay, formatDuration, formatMinute } from "../text/quantities.ts";
import { shownCommand } from "../text/secrets.ts";
import type { Paint } from "../text/style.ts";
import { verificationMark } from "../text/verification-mark.ts";
import { describeDecision } from "./describe-decision.ts";
import { describeOperation } from "./describe-operation.ts";
import { drawNode, drawOpenings, drawPassing } from "./draw-tree.ts";
import { type FittedLine, fitLines, type TimelineLine } from "./fit-lines.ts";
import { hideNoise } from "./hide-noise.ts";
import { assignLanes, type LaneRow } from "./lanes.ts";
import { renderSkipped } from "./render-skipped.ts";
import { shortenIds } from "./shorten-ids.ts";
import { titleOf } from "./title.ts";

type Log = OperationOutput<"log">;

/** A command can be a whole script. */
const VERIFY_LINES_MAX = 2;

/** How the timeline is drawn. */
export interface TimelineOptions {
  nowMs: number;
  /** Columns to fit into. */
  columns: number;
  paint: Paint;
  /** Globs of files that no line names, besides those that no summary has. */
  noise?: readonly string[];
  /** Whose verdicts the marks are, where not that of each session's verify command. */
  command?: string | undefined;
}

/** What the lines of one timeline share. */
interface Drawing {
  ids: ReadonlyMap<string, string>;
  sessions: readonly Session[];
  /** Names of the sessions that stand at a checkpoint. */
  standing: ReadonlyMap<string, readonly string[]>;
  /** How many checkpoints are left out right before one. */
  gaps: ReadonlyMap<string, number>;
  options: TimelineOptions;
}

/** Returns the timeline, newest last: checkpoints as a tree, operations between them. */
export function renderTimeline(log: Log, options: TimelineOptions): string[] {
  const isEmpty = [log.checkpoints, log.operations, log.decisions].every(
    ({ length }) => length === 0,
  );
  if (isEmpty && log.notShown === 0) {
    return ["No checkpoints yet. Make one with `waypoint checkpoint`."];
  }
  const told = tellAutomatic(log.sessions).flatMap((line) => wrap(line, options.columns));
  return [
    ...renderVerifyCommands(log, options),
    ...renderTimelineRows(log, options).flatMap(({ lines }) => lines),
    ...renderSkipped(log, options),
    ...told,
  ];
}

/** Whose verdicts the marks are. */
function renderVerifyCommands(
  { sessions }: Log,
  { columns, paint, command }: TimelineOptions,
): string[] {
  if (command !== undefined)
    return [paint("dim", `The marks are those of ${shownCommand(command)}`)];
  return sessions.flatMap(({ name, verifyCommand }) => {
    if (verifyCommand === null) return [];
    const line = `${printable(name)} is verified with ${shownCommand(verifyCommand)}`;
    return wrap(line, columns)
      .slice(0, VERIFY_LINES_MAX)
      .map((each) => paint("dim", each));
  });
}

/** Returns the same row by row, to choose a checkpoint from. */
export function renderTimelineRows(log: Log, options: TimelineOptions): FittedLine[] {
  const checkpoints = log.checkpoints.toSorted(byTime((checkpoint) => checkpoint.createdAt));
  const operations = log.operations.toSorted(byTime((operation) => operation.at));
  return fitLines(buildLines({ ...log, checkpoints, operations }, options), options);
}

function byTime<T>(instantOf: (item: T) => string): (a: T, b: T) => number {
  // Instants are written alike, so their texts are in order as they are.
  return (a, b) => (instantOf(a) < instantOf(b) ? -1 : instantOf(a) > instantOf(b) ? 1 : 0);
}

function buildLines(log: Log, options: TimelineOptions): TimelineLine[] {
  const drawing = prepare(log, options);
  const parents = new Map(log.elided.map(({ checkpoint, ancestor }) => [checkpoint, ancestor]));
  const rows = assignLanes(
    log.checkpoints.map(({ id, parent, session }) => {
      return { id, parent: parents.has(id) ? (parents.get(id) ?? null) : parent, session };
    }),
  );
  const lines: TimelineLine[] = [];
  const between = [
    ...log.operations.map((each) => ({
      at: each.at,
      title: () => describeOperation(each, drawing),
    })),
    ...log.decisions.map((each) => ({ at: each.at, title: () => describeDecision(each) })),
  ].toSorted(byTime(({ at }) => at));
  const pending = between[Symbol.iterator]();
  let next = pending.next();
  let last: LaneRow | undefined;
  let day = formatDay(options.nowMs);
  const addDay = (instant: string) => {
    const itsDay = formatDay(Date.parse(instant));
    if (itsDay !== day) lines.push(sentence("", drawPassing(last), itsDay));
    day = itsDay;
  };
  const addUntil = (untilMs: number) => {
    for (; !next.done && Date.parse(next.value.at) <= untilMs; next = pending.next()) {
      addDay(next.value.at);
      const { at, title } = next.value;
      lines.push(sentence(formatMinute(at), drawPassing(last), title()));
    }
  };
  for (const [index, checkpoint] of log.checkpoints.entries()) {
    const row = rows[index] as LaneRow;
    // A restore's own checkpoint is taken before it; the operation's time is when it was done.
    addUntil(Date.parse(checkpoint.createdAt) - 1);
    addDay(checkpoint.createdAt);
    const gap = drawing.gaps.get(checkpoint.id);
    if (gap !== undefined) lines.push(sentence("", drawPassing(last), `… ${gap} not shown`));
    lines.push(checkpointLine(checkpoint, row, drawing));
    for (const tree of drawOpenings(row)) lines.push(sentence("", tree, ""));
    last = row;
  }
  addUntil(Number.POSITIVE_INFINITY);
  return lines;
}

function prepare(log: Log, options: TimelineOptions): Drawing {
  const standing = new Map<string, string[]>();
  for (const { head, name } of log.sessions) {
    if (head !== null) standing.set(head, [...(standing.get(head) ?? []), printable(name)]);
  }
  return {
    ids: shortenIds(log.checkpoints.map(({ id }) => id)),
    sessions: log.sessions,
    standing,
    gaps: new Map(log.elided.map(({ checkpoint, count }) => [checkpoint, count])),
    options,
  };
}

function sentence(at: string, tree: string, title: string): TimelineLine {
  return {
    checkpoint: null,
    at,
    tree,
    id: "",
    title,
    titleEnd: "",
    changes: "",
    pause: "",
    standing: [],
  };
}

function checkpointLine(checkpoint: Checkpoint, row: LaneRow, drawing: Drawing): TimelineLine {
  const { ids, standing } = drawing;
  const { paint, noise = [] } = drawing.options;
  const { id, parent, createdAt, content, pauseMs } = checkpoint;
  const short = (of: string) => ids.get(of) ?? of;
  const from = row.isDetached && parent !== null ? short(parent) : null;
  return {
    checkpoint: id,
    at: formatMinute(createdAt),
    tree: drawNode(row, content === "files" ? "○" : "●"),
    id: `${verificationMark(checkpoint.verification, paint)} ${paint("yellow", short(id))}`,
    ...titleOf(checkpoint, from, paint),
    changes: shownCommand(hideNoise(checkpoint.changes.summary, noise)),
    pause: formatDuration(pauseMs),
    standing: standing.get(id) ?? [],
  };
}
