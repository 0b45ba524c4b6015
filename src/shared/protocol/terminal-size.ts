/** No screen that anybody looks at is larger; a larger one is memory that nobody asked for. */
export const TERMINAL_COLUMNS_MAX = 2000;
export const TERMINAL_ROWS_MAX = 1000;

/**
 * Returns a size that a screen may have, of one that a program has set: `stty cols 65535` is all it
 * takes. A terminal without a size, 0, stays one.
 */
export function boundedSize(size: { columns: number; rows: number }): {
  columns: number;
  rows: number;
} {
  const bound = (value: number, max: number) =>
    Number.isFinite(value) ? Math.max(0, Math.min(Math.trunc(value), max)) : 0;
  return {
    columns: bound(size.columns, TERMINAL_COLUMNS_MAX),
    rows: bound(size.rows, TERMINAL_ROWS_MAX),
  };
}
