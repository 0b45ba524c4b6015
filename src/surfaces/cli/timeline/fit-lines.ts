import { displayWidth, pad, truncate, wrap } from "../text/display-width.ts";
import type { Paint } from "../text/style.ts";

/** One line of the timeline before it is fitted into the terminal. */
export interface TimelineLine {
  /** Id of the checkpoint that it tells of; `null` for anything else. */
  checkpoint: string | null;
  at: string;
  tree: string;
  /** The tree on a second line of the same checkpoint. */
  treeBelow: string;
  /** Marks and id of a checkpoint; empty for anything else. */
  id: string;
  /** Of a checkpoint; or what happened between two, which is not painted yet. */
  title: string;
  changes: string;
  pause: string;
  /** Names of the sessions that stand here. */
  standing: readonly string[];
}

/** How to fit lines. */
export interface FitOptions {
  /** Columns to fit into; `Infinity` cuts nothing. */
  columns: number;
  paint: Paint;
}

/** What is left out so that titles have room, and how many of the sessions that stand somewhere. */
interface Measure {
  labelsMax: number;
  hasPause: boolean;
  /** Changes and labels have a line of their own. */
  isStacked: boolean;
}

const GAP = "  ";
const TITLE_COLUMNS_MIN = 24;
/** Without a terminal, titles are padded to this and longer ones push the rest of their line. */
const TITLE_PADDED_COLUMNS_MAX = 60;
/** Longer changes are cut, so that one checkpoint does not take the room of all titles. */
const CHANGES_COLUMNS_MAX = 48;
/** Below this width a sentence is cut rather than broken into words. */
const SENTENCE_COLUMNS_MIN = 8;
/** Narrower ones leave the time out. */
const WITH_TIME_COLUMNS_MIN = 40;
const LABEL_COLUMNS_MAX = 24;

/** From the roomiest to the most sparing one. */
const MEASURES: readonly Measure[] = [
  { labelsMax: 3, hasPause: true, isStacked: false },
  { labelsMax: 1, hasPause: true, isStacked: false },
  { labelsMax: 1, hasPause: false, isStacked: false },
  { labelsMax: 1, hasPause: false, isStacked: true },
];
const UNCUT: Measure = { labelsMax: Number.POSITIVE_INFINITY, hasPause: true, isStacked: false };

/** Columns of each cell; none means that it is left out. */
type Widths = Record<"at" | "tree" | "id" | "title" | "changes" | "pause" | "standing", number>;

/** What became of one line: it may take several in the terminal. */
export interface FittedLine {
  checkpoint: string | null;
  lines: readonly string[];
}

/** Fits lines into the terminal: facts move to a second line before titles get short. */
export function fitLines(lines: readonly TimelineLine[], options: FitOptions): FittedLine[] {
  const isCut = Number.isFinite(options.columns);
  const widest = widestCells(lines);
  const fits = (isCut ? MEASURES : [UNCUT]).map((measure) => {
    return { measure, widths: widthsOf(widest, lines, measure, options) };
  });
  const roomy = fits.find(({ widths }) => widths.title >= TITLE_COLUMNS_MIN);
  const { measure, widths } = roomy ?? (fits.at(-1) as (typeof fits)[number]);
  const room = isCut ? Math.max(8, widths.title) : TITLE_PADDED_COLUMNS_MAX;
  const fitted = { ...widths, title: Math.min(Math.max(8, widest.title), room) };
  return lines.map((line) => ({
    checkpoint: line.checkpoint,
    lines: isCheckpoint(line)
      ? layoutCheckpoint(line, { measure, widths: fitted, options, isCut })
      : layoutSentence(line, widths, options),
  }));
}

function isCheckpoint({ checkpoint }: TimelineLine): boolean {
  return checkpoint !== null;
}

/** Returns the columns of the widest cells, of titles those of checkpoints. */
function widestCells(lines: readonly TimelineLine[]): Omit<Widths, "standing"> {
  const widest = { at: 0, tree: 0, id: 0, title: 0, changes: 0, pause: 0 };
  for (const line of lines) {
    for (const cell of ["at", "tree", "id", "changes", "pause"] as const) {
      widest[cell] = Math.max(widest[cell], displayWidth(line[cell]));
    }
    if (isCheckpoint(line)) widest.title = Math.max(widest.title, displayWidth(line.title));
  }
  return widest;
}

/** Returns the width of each cell; `title` is what is left for it. */
function widthsOf(
  widest: Omit<Widths, "standing">,
  lines: readonly TimelineLine[],
  measure: Measure,
  options: FitOptions,
): Widths {
  const { isStacked, hasPause } = measure;
  const isCut = Number.isFinite(options.columns);
  const labels = lines.map((line) => displayWidth(labelsOf(line, measure, options)));
  const widths = {
    at: options.columns < WITH_TIME_COLUMNS_MIN ? 0 : widest.at,
    tree: widest.tree,
    id: widest.id,
    changes: isStacked ? 0 : isCut ? Math.min(widest.changes, CHANGES_COLUMNS_MAX) : widest.changes,
    pause: hasPause ? widest.pause : 0,
    standing: isStacked ? 0 : labels.reduce((most, each) => Math.max(most, each), 0),
  };
  const taken = Object.values(widths).filter((width) => width > 0);
  const left = taken.reduce((columns, width) => columns - width - GAP.length, options.columns);
  return { ...widths, title: left };
}

/** Returns who stands at a checkpoint: "● web ● try +6". */
function labelsOf({ standing }: TimelineLine, { labelsMax }: Measure, { paint }: FitOptions) {
  if (standing.length === 0) return "";
  const shown = standing.slice(0, labelsMax);
  const labels = shown.map((name) => paint("green", `● ${truncate(name, LABEL_COLUMNS_MAX)}`));
  const moreCount = standing.length - shown.length;
  return [...labels, ...(moreCount > 0 ? [`+${moreCount}`] : [])].join(" ");
}

/** A sentence may use the columns of a checkpoint's facts, and as many lines as it needs. */
function layoutSentence(line: TimelineLine, widths: Widths, options: FitOptions): string[] {
  const placeOf = (at: string) => place(at, line.tree, widths);
  const columns = Math.max(SENTENCE_COLUMNS_MIN, options.columns - displayWidth(placeOf(line.at)));
  return wrap(line.title, columns).map((text, index) => {
    const painted = text === "" ? "" : options.paint("dim", text);
    return `${placeOf(index === 0 ? line.at : "")}${painted}`.trimEnd();
  });
}

function place(at: string, tree: string, widths: Widths): string {
  const cell = cells([
    [at, widths.at],
    [tree, widths.tree],
  ]);
  return cell === "" ? "" : `${cell}${GAP}`;
}

function layoutCheckpoint(
  line: TimelineLine,
  how: { measure: Measure; widths: Widths; options: FitOptions; isCut: boolean },
): string[] {
  const { measure, widths, options, isCut } = how;
  const labels = labelsOf(line, measure, options);
  const text = cells([
    [line.at, widths.at],
    [line.tree, widths.tree],
    [line.id, widths.id],
    [isCut ? truncate(line.title, widths.title) : line.title, widths.title],
    [truncate(line.changes, widths.changes), widths.changes],
    [pad(line.pause, widths.pause, "right"), widths.pause],
    [labels, widths.standing],
  ]);
  const facts = measure.isStacked ? factsBelow(line, labels, options) : "";
  const below = facts === "" ? [] : [`${place("", line.treeBelow, widths)}${facts}`];
  return [text, ...below].map((each) => truncate(each.trimEnd(), options.columns));
}

function factsBelow({ changes }: TimelineLine, labels: string, { paint }: FitOptions): string {
  const told = changes === "" ? "" : paint("dim", changes);
  return [labels, told].filter((part) => part !== "").join(GAP);
}

function cells(parts: readonly (readonly [string, number])[]): string {
  return parts
    .filter(([, width]) => width > 0)
    .map(([text, width]) => pad(text, width))
    .join(GAP);
}
