import type { TerminalSize } from "../terminal/terminal-size.ts";

/** Where everything lies on the screen. */
export interface Layout {
  /** Of the timeline, without the mark of the selection. */
  list: { columns: number; rows: number };
  /** `null` where there is no room for it. */
  preview: { place: "side" | "below"; columns: number; rows: number } | null;
}

/** Columns before each line of the timeline. */
export const GUTTER_COLUMNS = 2;
/** Between the timeline and a preview beside it. */
export const DIVIDER_COLUMNS = 3;
/** The title, the message and the keys. */
const FRAME_ROWS = 3;

/** From here on the preview has its place beside the timeline. */
const SIDE_COLUMNS_MIN = 100;
/** From here on it has its place below, where the screen is high enough. */
const BELOW_COLUMNS_MIN = 40;
const BELOW_ROWS_MIN = 16;
const LIST_SHARE = 0.55;
const BELOW_SHARE = 0.4;

/** Divides a terminal: the preview goes beside the timeline, below it, or nowhere. */
export function planLayout({ columns, rows }: TerminalSize): Layout {
  const body = Math.max(1, rows - FRAME_ROWS);
  if (columns >= SIDE_COLUMNS_MIN) {
    const left = Math.floor(columns * LIST_SHARE);
    return {
      list: { columns: left - GUTTER_COLUMNS, rows: body },
      preview: { place: "side", columns: columns - left - DIVIDER_COLUMNS, rows: body },
    };
  }
  const list = Math.max(1, columns - GUTTER_COLUMNS);
  if (columns < BELOW_COLUMNS_MIN || rows < BELOW_ROWS_MIN) {
    return { list: { columns: list, rows: body }, preview: null };
  }
  const below = Math.floor(body * BELOW_SHARE);
  return {
    // One row divides the two.
    list: { columns: list, rows: body - below - 1 },
    preview: { place: "below", columns, rows: below },
  };
}

/** Returns the part of `lines` of which the selected ones are to be seen, and are in its middle. */
export function windowOf(
  count: number,
  selected: { first: number; count: number },
  rows: number,
): { from: number; to: number } {
  const middle = selected.first + Math.floor(selected.count / 2);
  const from = Math.max(0, Math.min(middle - Math.floor(rows / 2), count - rows));
  return { from, to: Math.min(count, from + rows) };
}
