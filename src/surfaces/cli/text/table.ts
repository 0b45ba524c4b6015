import { displayWidth, pad } from "./display-width.ts";

/** A column of a table. */
export interface Column {
  title: string;
  /** Numbers stand on the right. @defaultValue "left" */
  align?: "left" | "right";
}

const GAP = "  ";

/** Returns the lines of an aligned table with a line of titles. */
export function layoutTable(columns: readonly Column[], rows: readonly string[][]): string[] {
  const titles = columns.map(({ title }) => title);
  const widths = columns.map((_column, index) =>
    Math.max(...[titles, ...rows].map((row) => displayWidth(row[index] ?? ""))),
  );
  return [titles, ...rows].map((row) =>
    columns
      .map(({ align }, index) => pad(row[index] ?? "", widths[index] ?? 0, align))
      .join(GAP)
      .trimEnd(),
  );
}

/** Returns lines of "label: value", the values aligned. */
export function layoutFields(fields: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...fields.map(([label]) => displayWidth(label))) + 1;
  return fields.map(([label, value]) => `${pad(`${label}:`, width)} ${value}`);
}
