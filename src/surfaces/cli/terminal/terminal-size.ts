/** Size of a terminal in characters. */
export interface TerminalSize {
  columns: number;
  rows: number;
}

/** Largest terminal of the contract; what this one has beyond it stays empty. */
const COLUMNS_MAX = 2000;
const ROWS_MAX = 1000;

/** Returns the size of `stream`, or `null` where it has none; a terminal nobody sized says 0. */
export function terminalSize(stream: { columns?: number; rows?: number }): TerminalSize | null {
  const { columns = 0, rows = 0 } = stream;
  if (columns < 1 || rows < 1) return null;
  return { columns: Math.min(columns, COLUMNS_MAX), rows: Math.min(rows, ROWS_MAX) };
}
