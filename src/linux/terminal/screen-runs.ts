import type { IBufferCell, IBufferLine } from "@xterm/headless";
import type { ScreenRun } from "../../shared/protocol/index.ts";

type Style = NonNullable<ScreenRun["style"]>[number];

/** What a cell looks like, apart from its text. */
type Look = Omit<ScreenRun, "text" | "columns">;

const STYLES: readonly (readonly [Style, (cell: IBufferCell) => number])[] = [
  ["bold", (cell) => cell.isBold()],
  ["dim", (cell) => cell.isDim()],
  ["italic", (cell) => cell.isItalic()],
  ["underline", (cell) => cell.isUnderline()],
  ["blink", (cell) => cell.isBlink()],
  ["inverse", (cell) => cell.isInverse()],
  ["hidden", (cell) => cell.isInvisible()],
  ["strikethrough", (cell) => cell.isStrikethrough()],
  ["overline", (cell) => cell.isOverline()],
];

/** Returns a line as runs of cells that look alike; blanks at its end that look like none are left out. */
export function runsOf(line: IBufferLine | undefined): ScreenRun[] {
  const runs: ScreenRun[] = [];
  let lastLook = "";
  for (let column = 0; column < (line?.length ?? 0); column += 1) {
    const cell = line?.getCell(column);
    // The second half of a wide character.
    if (cell === undefined || cell.getWidth() === 0) continue;
    const look = lookOf(cell);
    const key = JSON.stringify(look);
    const last = runs.at(-1);
    const text = cell.getChars() || " ";
    if (last !== undefined && key === lastLook) {
      last.text += text;
      last.columns += cell.getWidth();
    } else {
      runs.push({ text, columns: cell.getWidth(), ...look });
    }
    lastLook = key;
  }
  return withoutBlankEnd(runs);
}

function lookOf(cell: IBufferCell): Look {
  const color = colorOf(cell.isFgRGB(), cell.isFgPalette(), cell.getFgColor());
  const background = colorOf(cell.isBgRGB(), cell.isBgPalette(), cell.getBgColor());
  const style = STYLES.filter(([, has]) => has(cell) !== 0).map(([name]) => name);
  return {
    ...(color === null ? {} : { color }),
    ...(background === null ? {} : { background }),
    ...(style.length === 0 ? {} : { style }),
  };
}

function colorOf(isRgb: boolean, isPalette: boolean, value: number): number | string | null {
  if (isRgb) return `#${value.toString(16).padStart(6, "0")}`;
  return isPalette ? value : null;
}

function withoutBlankEnd(runs: ScreenRun[]): ScreenRun[] {
  const last = runs.at(-1);
  if (last === undefined || last.background !== undefined || last.style !== undefined) return runs;
  const text = last.text.trimEnd();
  if (text === "") return runs.slice(0, -1);
  const columns = last.columns - (last.text.length - text.length);
  return [...runs.slice(0, -1), { ...last, text, columns }];
}
