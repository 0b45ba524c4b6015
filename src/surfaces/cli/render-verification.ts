import type { FullVerification, Verified } from "../../shared/protocol/index.ts";
import { displayWidth, truncate } from "./text/display-width.ts";
import { printable, printableLines } from "./text/printable.ts";
import { formatDuration } from "./text/quantities.ts";
import { shownCommand } from "./text/secrets.ts";
import type { Paint } from "./text/style.ts";
import { verificationMark } from "./text/verification-mark.ts";

/** Lines of an output that are shown of a verification that failed. */
const LINES_MAX = 40;
const COMMAND_CHARACTERS_MAX = 200;
const COMMAND_COLUMNS_MIN = 8;
/** What stands before a command: the mark and a space. */
const MARK_COLUMNS = 2;

type Verification = Omit<FullVerification, "outputBytes">;

/**
 * Returns what came of a verification in a few words: "✗ npm test, exit code 1 (2.1 s)". Where that
 * is more than `columns`, its command is cut.
 */
export function renderVerdict(
  verification: Verification,
  paint: Paint,
  columns = COMMAND_CHARACTERS_MAX,
): string {
  const { command, exitCode, timedOut, durationMs } = verification;
  const why = timedOut ? ", took too long" : exitCode === 0 ? "" : `, exit code ${exitCode}`;
  const end = `${why} (${formatDuration(durationMs)})`;
  const room = Math.min(columns - MARK_COLUMNS - displayWidth(end), COMMAND_CHARACTERS_MAX);
  const shown = truncate(shownCommand(command), Math.max(room, COMMAND_COLUMNS_MIN));
  return `${verificationMark(verification, paint)} ${shown}${end}`;
}

/** Returns the end of what a command printed, indented. */
export function renderOutput({ output }: Pick<Verification, "output">, paint: Paint): string[] {
  const lines = printableLines(output.trimEnd()).split("\n");
  const left = lines.length - LINES_MAX;
  return [
    ...(left > 0 ? [paint("dim", `    … ${left} lines before, see --json`)] : []),
    ...lines.slice(-LINES_MAX).flatMap((line) => (output === "" ? [] : [`    ${line}`])),
  ];
}

/** Returns what became of one checkpoint; what was printed only where that did not pass. */
export function renderVerified(verified: Verified, paint: Paint, columns: number): string[] {
  const { checkpoint, name, verification, error, passed } = verified;
  const which = name === null ? checkpoint : `${checkpoint} (${printable(name)})`;
  if (verification === null)
    return [`- ${which}  not verified: ${printable(error?.message ?? "")}`];
  const room = columns - displayWidth(which) - 2;
  const [mark = "", ...rest] = renderVerdict(verification, paint, room).split(" ");
  return [
    `${mark} ${which}  ${rest.join(" ")}`,
    ...(passed ? [] : renderOutput(verification, paint)),
  ];
}
