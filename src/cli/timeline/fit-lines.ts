import { displayWidth, pad, truncate, wrap } from "../text/display-width.ts";
import type { Paint } from "../text/style.ts";

/** One line of the timeline before it is fitted into the terminal. */
export interface TimelineLine {
  at: string;
  tree: string;
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

type Cell = Exclude<keyof TimelineLine, "standing">;

/** What is left out so that titles have room, and how many of the sessions that stand somewhere. */
interface Measure {
  labelsMax: number;
  hidden: readonly Cell[];
}

const GAP = "  ";
const TITLE_COLUMNS_MIN = 24;

/** Without a terminal, titles are padded to this and longer ones push the rest of their line. */
const TITLE_PADDED_COLUMNS_MAX = 60;

/** Below this width a sentence is cut rather than broken into words. */
const SENTENCE_COLUMNS_MIN = 8;
const NARROW_COLUMNS = 60;
const LABEL_COLUMNS_MAX = 24;

/** From the roomiest to the most sparing one. */
const MEASURES: readonly Measure[] = [
  { labelsMax: 3, hidden: [] },
  { labelsMax: 1, hidden: [] },
  { labelsMax: 1, hidden: ["changes"] },
  { labelsMax: 1, hidden: ["changes", "pause"] },
];
const UNCUT: Measure = { labelsMax: Number.POSITIVE_INFINITY, hidden: [] };

/** Columns of each cell; none means that it is left out. */
type Widths = Record<Cell | "standing", number>;

/** Fits lines into the terminal: labels and facts are left out before titles get short. */
export function fitLines(lines: readonly TimelineLine[], options: FitOptions): string[] {
  const isCut = Number.isFinite(options.columns);
  const measures = isCut ? MEASURES : [UNCUT];
  const fits = measures.map((measure) => ({ measure, widths: widthsOf(lines, measure, options) }));
  const roomy = fits.find(({ widths }) => widths.title >= TITLE_COLUMNS_MIN);
  const { measure, widths } = roomy ?? (fits.at(-1) as (typeof fits)[number]);
  const titles = lines.filter(isCheckpoint).map(({ title }) => displayWidth(title));
  const wanted = Math.max(8, ...titles);
  const title = Math.min(wanted, isCut ? Math.max(8, widths.title) : TITLE_PADDED_COLUMNS_MAX);
  return lines.flatMap((line) => {
    if (!isCheckpoint(line)) return layoutSentence(line, widths, options);
    const standing = labelsOf(line, measure, options);
    const text = layoutCheckpoint({ ...line, standing }, { ...widths, title }, isCut);
    return [truncate(text, options.columns)];
  });
}

function isCheckpoint({ id }: TimelineLine): boolean {
  return id !== "";
}

/** Returns the width of each cell; `title` is what is left for it. */
function widthsOf(lines: readonly TimelineLine[], measure: Measure, options: FitOptions): Widths {
  const widest = (textOf: (line: TimelineLine) => string) =>
    Math.max(0, ...lines.map((line) => displayWidth(textOf(line))));
  const cell = (name: Cell) => (measure.hidden.includes(name) ? 0 : widest((line) => line[name]));
  const widths = {
    at: options.columns < NARROW_COLUMNS ? 0 : cell("at"),
    tree: cell("tree"),
    id: cell("id"),
    changes: cell("changes"),
    pause: cell("pause"),
    standing: widest((line) => labelsOf(line, measure, options)),
  };
  const taken = Object.values(widths).filter((width) => width > 0);
  const left = taken.reduce((columns, width) => columns - width - GAP.length, options.columns);
  return { ...widths, title: left };
}

/** Returns who stands at a checkpoint: "● web ● try +6". */
function labelsOf({ standing }: TimelineLine, { labelsMax }: Measure, { paint }: FitOptions) {
  const shown = standing.slice(0, labelsMax);
  const labels = shown.map((name) => paint("green", `● ${truncate(name, LABEL_COLUMNS_MAX)}`));
  const moreCount = standing.length - shown.length;
  return [...labels, ...(moreCount > 0 ? [`+${moreCount}`] : [])].join(" ");
}

/** A sentence may use the columns of a checkpoint's facts, and as many lines as it needs. */
function layoutSentence(line: TimelineLine, widths: Widths, options: FitOptions): string[] {
  const place = (at: string) => {
    const cell = cells([
      [at, widths.at],
      [line.tree, widths.tree],
    ]);
    return cell === "" ? "" : `${cell}${GAP}`;
  };
  const columns = Math.max(SENTENCE_COLUMNS_MIN, options.columns - displayWidth(place(line.at)));
  return wrap(line.title, columns).map((text, index) => {
    const painted = text === "" ? "" : options.paint("dim", text);
    return `${place(index === 0 ? line.at : "")}${painted}`.trimEnd();
  });
}

function layoutCheckpoint(
  line: Omit<TimelineLine, "standing"> & { standing: string },
  widths: Widths,
  isCut: boolean,
): string {
  return cells([
    [line.at, widths.at],
    [line.tree, widths.tree],
    [line.id, widths.id],
    [isCut ? truncate(line.title, widths.title) : line.title, widths.title],
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
