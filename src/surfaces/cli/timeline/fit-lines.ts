import { displayWidth, pad, truncate, wrap } from "../text/display-width.ts";
import type { Paint } from "../text/style.ts";

/** One line of the timeline before it is fitted into the terminal. */
export interface TimelineLine {
  /** Id of the checkpoint that it tells of; `null` for anything else. */
  checkpoint: string | null;
  at: string;
  tree: string;
  /** Marks and id of a checkpoint; empty for anything else. */
  id: string;
  /** Of a checkpoint; or what happened between two, which is not painted yet. */
  title: string;
  /** What ends the title and is never cut: how a command ended. */
  titleEnd: string;
  /** What came of it, what matters first, parted by ", ". */
  changes: string;
  pause: string;
  /** Names of the sessions that stand here. */
  standing: readonly string[];
}

/** How to fit lines. */
export interface FitOptions {
  /** Columns to fit into. */
  columns: number;
  paint: Paint;
}

/** What is left out so that the text has room, and how many of the sessions that stand somewhere. */
interface Measure {
  labelsMax: number;
  hasPause: boolean;
}

const GAP = "  ";
const CHANGES_GAP = " · ";
/** Texts that are longer give the pause and further labels their room back. */
const TEXT_COLUMNS_ENOUGH = 72;
/** Texts have this before it is told who stands where. */
const TEXT_COLUMNS_FAIR = 20;
const TEXT_COLUMNS_MIN = 8;
/** Of a text that is too long, so much is kept for what came of it; the title gets the rest. */
const CHANGES_SHARE = 0.5;
const CHANGES_COLUMNS_MIN = 6;
/** Less of a change than this, with the comma before it, is not read. */
const PART_COLUMNS_MIN = 8;
/** Below this width a sentence is cut rather than broken into words. */
const SENTENCE_COLUMNS_MIN = 8;
/** Narrower ones leave the time out. */
const WITH_TIME_COLUMNS_MIN = 40;
const LABEL_COLUMNS_MAX = 24;

/** From the roomiest to the most sparing one. */
const MEASURES: readonly Measure[] = [
  { labelsMax: 3, hasPause: true },
  { labelsMax: 1, hasPause: true },
  { labelsMax: 1, hasPause: false },
  { labelsMax: 0, hasPause: false },
];

/** Columns of each cell; none means that it is left out. */
type Widths = Record<"at" | "tree" | "id" | "text" | "pause" | "standing", number>;

/** What became of one line: a sentence may take several in the terminal. */
export interface FittedLine {
  checkpoint: string | null;
  lines: readonly string[];
}

/** Fits lines into the terminal: a checkpoint has one line, whose end is what may be left out. */
export function fitLines(lines: readonly TimelineLine[], options: FitOptions): FittedLine[] {
  const widest = widestCells(lines);
  const fits = MEASURES.map((measure) => {
    return { measure, widths: widthsOf(widest, lines, measure, options) };
  });
  const wanted = Math.min(widest.text, TEXT_COLUMNS_ENOUGH);
  const roomy =
    fits.find(({ measure, widths }) => measure.labelsMax > 0 && widths.text >= wanted) ??
    fits.find(({ measure, widths }) => !measure.hasPause && widths.text >= TEXT_COLUMNS_FAIR);
  const { measure, widths } = roomy ?? (fits.at(-1) as (typeof fits)[number]);
  const room = Math.max(TEXT_COLUMNS_MIN, widths.text);
  const fitted = { ...widths, text: Math.min(Math.max(TEXT_COLUMNS_MIN, widest.text), room) };
  return lines.map((line) => ({
    checkpoint: line.checkpoint,
    lines: isCheckpoint(line)
      ? [layoutCheckpoint(line, { measure, widths: fitted, options })]
      : layoutSentence(line, widths, options),
  }));
}

function isCheckpoint({ checkpoint }: TimelineLine): boolean {
  return checkpoint !== null;
}

/** Returns the columns of the widest cells, of texts those of checkpoints. */
function widestCells(lines: readonly TimelineLine[]): Omit<Widths, "standing"> {
  const widest = { at: 0, tree: 0, id: 0, text: 0, pause: 0 };
  for (const line of lines) {
    for (const cell of ["at", "tree", "id", "pause"] as const) {
      widest[cell] = Math.max(widest[cell], displayWidth(line[cell]));
    }
    if (isCheckpoint(line)) widest.text = Math.max(widest.text, displayWidth(wholeText(line)));
  }
  return widest;
}

/** Returns the width of each cell; `text` is what is left for it. */
function widthsOf(
  widest: Omit<Widths, "standing">,
  lines: readonly TimelineLine[],
  measure: Measure,
  options: FitOptions,
): Widths {
  const labels = lines.map((line) => displayWidth(labelsOf(line, measure, options)));
  const widths = {
    at: options.columns < WITH_TIME_COLUMNS_MIN ? 0 : widest.at,
    tree: widest.tree,
    id: widest.id,
    pause: measure.hasPause ? widest.pause : 0,
    standing: labels.reduce((most, each) => Math.max(most, each), 0),
  };
  const taken = Object.values(widths).filter((width) => width > 0);
  const left = taken.reduce((columns, width) => columns - width - GAP.length, options.columns);
  return { ...widths, text: left };
}

/** Returns who stands at a checkpoint: "● web ● try +6". */
function labelsOf({ standing }: TimelineLine, { labelsMax }: Measure, { paint }: FitOptions) {
  if (standing.length === 0 || labelsMax === 0) return "";
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
  { measure, widths, options }: { measure: Measure; widths: Widths; options: FitOptions },
): string {
  const labels = labelsOf(line, measure, options);
  // Where nothing follows the text may go on to the end of the line.
  const isLast = labels === "" && widths.pause === 0 && widths.standing > 0;
  const columns = widths.text + (isLast ? GAP.length + widths.standing : 0);
  const text = cells([
    [line.at, widths.at],
    [line.tree, widths.tree],
    [line.id, widths.id],
    [fitText(line, columns), columns],
    [pad(line.pause, widths.pause, "right"), widths.pause],
    [labels, isLast ? 0 : widths.standing],
  ]);
  return truncate(text.trimEnd(), options.columns);
}

function wholeText({ title, titleEnd, changes }: TimelineLine): string {
  return [`${title}${titleEnd}`, changes].filter((part) => part !== "").join(CHANGES_GAP);
}

/** Cuts the title in favour of what came of it, and of that what comes last. */
function fitText(line: TimelineLine, columns: number): string {
  const whole = wholeText(line);
  if (displayWidth(whole) <= columns) return whole;
  const { title, titleEnd, changes } = line;
  const kept = Math.min(displayWidth(changes), Math.floor(columns * CHANGES_SHARE));
  const forChanges = changes === "" ? 0 : kept + CHANGES_GAP.length;
  const forTitle = Math.max(TEXT_COLUMNS_MIN, columns - forChanges - displayWidth(titleEnd));
  const head = `${truncate(title, forTitle)}${titleEnd}`;
  const left = columns - displayWidth(head) - (head === "" ? 0 : CHANGES_GAP.length);
  const tail = left < CHANGES_COLUMNS_MIN ? "" : fitChanges(changes, left);
  return [head, tail].filter((part) => part !== "").join(CHANGES_GAP);
}

/** Returns as many of the changes as fit, the last one cut where enough of it is left to be read. */
function fitChanges(changes: string, columns: number): string {
  if (displayWidth(changes) <= columns) return changes;
  let fitting = "";
  for (const part of changes.split(", ")) {
    const longer = fitting === "" ? part : `${fitting}, ${part}`;
    if (displayWidth(longer) < columns) {
      fitting = longer;
      continue;
    }
    const isReadable = fitting === "" || columns - displayWidth(fitting) >= PART_COLUMNS_MIN;
    return isReadable ? truncate(longer, columns) : `${fitting}…`;
  }
  return fitting;
}

function cells(parts: readonly (readonly [string, number])[]): string {
  return parts
    .filter(([, width]) => width > 0)
    .map(([text, width]) => pad(text, width))
    .join(GAP);
}
