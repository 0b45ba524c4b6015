import { stdout } from "node:process";

const COLUMNS_MAX = 118;
const isStyled = stdout.isTTY === true && process.env["NO_COLOR"] === undefined;

let step = 0;

/** Prints the heading of the next step. */
export function heading(title: string): void {
  step += 1;
  console.log(`\n${bold(`${step}. ${title}`)}\n`);
}

/** Prints a sentence of the guide. */
export function say(text: string): void {
  console.log(`   ${text}`);
}

/** Prints what the program has checked and found right. */
export function confirm(text: string): void {
  console.log(`   ${styled("32", "✓")} ${text}`);
}

/** Prints a command as it is run in `place`. */
export function showCommand(place: string, command: string): void {
  const [first, ...rest] = command.trim().split("\n");
  console.log(`   ${dim(`${place} $`)} ${first}`);
  for (const line of rest) console.log(`   ${dim(`${" ".repeat(place.length)} >`)} ${line}`);
}

/** Prints the last `linesMax` lines of a command's output. */
export function showOutput(text: string, linesMax = 12): void {
  const lines = text.trimEnd().split("\n").slice(-linesMax);
  for (const line of lines) if (line !== "") console.log(`     ${shorten(line)}`);
}

/** Prints rows under their titles, each column as wide as its widest cell. */
export function table(titles: string[], rows: string[][]): void {
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: string[]) =>
    `   ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd();
  console.log(bold(line(titles)));
  for (const row of rows) console.log(line(row));
}

export function milliseconds(valueMs: number): string {
  return valueMs < 100 ? `${valueMs.toFixed(1)} ms` : `${Math.round(valueMs)} ms`;
}

export function seconds(valueMs: number): string {
  return `${(valueMs / 1000).toFixed(1)} s`;
}

export function megabytes(valueBytes: number): string {
  return `${(valueBytes / 1e6).toFixed(1)} MB`;
}

export function bold(text: string): string {
  return styled("1", text);
}

export function dim(text: string): string {
  return styled("2", text);
}

function styled(code: string, text: string): string {
  return isStyled ? `\u001b[${code}m${text}\u001b[0m` : text;
}

function shorten(line: string): string {
  return line.length <= COLUMNS_MAX ? line : `${line.slice(0, COLUMNS_MAX - 1)}…`;
}
