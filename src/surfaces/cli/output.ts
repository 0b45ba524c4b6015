import { isSystemError } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { choosePager, isLongerThan, openAtEnd, showInPager } from "./pager.ts";
import { endProgress, eraseProgress, type ProgressTerminal } from "./progress-line.ts";
import { displayWidth } from "./text/display-width.ts";
import { type Colours, type Paint, paintFor } from "./text/style.ts";

/** Thrown when the reader of the output has gone, for instance `| head`. */
export class OutputClosed extends Error {}

/** How long text is shown. */
export interface PagedOptions {
  /** What is newest stands last: the pager opens there. */
  isNewestLast?: boolean;
}

/** Where a command prints. */
export interface Output {
  /** Columns of the terminal; where the output is none, what one line may have. */
  readonly columns: number;
  /** A person sees what is printed, on a terminal that obeys what it is sent. */
  readonly isTerminal: boolean;
  readonly paint: Paint;
  /** Prints text as it is. */
  text(text: string): Promise<void>;
  /** Prints lines for people. */
  lines(lines: readonly string[]): Promise<void>;
  /** Prints lines for people, in a pager where they are more than the terminal shows. */
  paged(lines: readonly string[], options?: PagedOptions): Promise<void>;
  /** Prints the result for programs, as one line. */
  json(value: unknown): Promise<void>;
  /** Passes bytes of a program on; resolves when more can be taken. */
  bytes(stream: "stdout" | "stderr", bytes: Uint8Array): Promise<void>;
  /** Where a person can be shown what is under way; `null` where nobody looks. */
  readonly progress: ProgressTerminal | null;
  /** Says something meanwhile, on stderr. */
  note(text: string): void;
  /** Says on stderr where somebody is, dimmed: above on the right of a screen that is drawn already. */
  inCorner(text: string): void;
}

/** What one line may have where no terminal and no `COLUMNS` says it. */
const COLUMNS_DEFAULT = 160;
const COLUMNS_MIN = 20;

/** How a person wants the output. */
export interface OutputOptions {
  colours: Colours;
  hasPager: boolean;
}

/** Returns what one line may have in a pipe or a file. */
export function columnsOfPipe({ COLUMNS = "" }: NodeJS.ProcessEnv): number {
  const wanted = /^\d{1,5}$/.test(COLUMNS) ? Number(COLUMNS) : COLUMNS_DEFAULT;
  return Math.max(COLUMNS_MIN, wanted);
}

/**
 * Returns the output of this process. Call it once.
 *
 * What it prints throws OutputClosed when the reader has gone, and USAGE_INVALID when standard
 * output cannot be written, for instance on a full disk.
 */
export function processOutput({ colours, hasPager }: OutputOptions): Output {
  const { stdout, stderr } = process;
  // Each write says itself what became of it; without a listener a failure would end the process.
  stdout.on("error", () => {});
  // Losing stderr loses remarks only; the command goes on.
  stderr.on("error", () => {});
  return {
    columns: stdout.isTTY && stdout.columns > 0 ? stdout.columns : columnsOfPipe(process.env),
    isTerminal: stdout.isTTY,
    paint: paintFor(stdout, process.env, colours),
    text: (text) => print(text),
    lines: (lines) => print(textOf(lines)),
    paged: (lines, options) =>
      printPaged(lines, hasPager ? choosePager(process.env) : null, options),
    json: (value) => print(`${JSON.stringify(value)}\n`),
    bytes: (stream, bytes) => {
      endProgress();
      return stream === "stdout" ? print(bytes) : remark(bytes);
    },
    progress: stderr.isTTY ? stderr : null,
    note: (text) => say(text),
    inCorner: (text) => {
      const paint = paintFor(stderr, process.env, colours);
      if (stderr.isTTY && stderr.columns > 0) stderr.write(atTopRight(text, stderr.columns, paint));
      else say(text);
    },
  };
}

/** Returns what writes `text`, or its end, into the first line; the cursor stays where it is. */
export function atTopRight(text: string, columns: number, paint: Paint): string {
  const shown = displayWidth(text) > columns ? text.slice(-columns) : text;
  const column = columns - displayWidth(shown) + 1;
  return `\u001b7\u001b[0m\u001b[1;${column}H${paint("dim", shown)}\u001b8`;
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

async function printPaged(
  lines: readonly string[],
  chosen: string | null,
  { isNewestLast = false }: PagedOptions = {},
): Promise<void> {
  const pager = chosen !== null && isNewestLast ? openAtEnd(chosen) : chosen;
  const { isTTY, columns, rows } = process.stdout;
  const isLong = isTTY && columns > 0 && isLongerThan(lines, { columns, rows });
  endProgress();
  const isShown = isLong && pager !== null && (await showInPager(pager, textOf(lines)));
  if (!isShown) await print(textOf(lines));
}

function say(text: string): void {
  eraseProgress();
  process.stderr.write(`${text}\n`);
}

function print(data: string | Uint8Array): Promise<void> {
  eraseProgress();
  return new Promise((resolve, reject) => {
    process.stdout.write(data, (error) => {
      if (error === null || error === undefined) resolve();
      else reject(printFailure(error));
    });
  });
}

function remark(data: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    process.stderr.write(data, () => resolve());
  });
}

function printFailure(error: Error): Error {
  if (isSystemError(error, "EPIPE", "EIO", "ERR_STREAM_DESTROYED")) return new OutputClosed();
  return new WaypointError(
    "USAGE_INVALID",
    `Standard output could not be written (${error.message}).`,
    {
      hint: "What the command did before is done; give its output a place with room.",
      cause: error,
    },
  );
}
