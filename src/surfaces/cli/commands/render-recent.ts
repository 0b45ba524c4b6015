import { stripVTControlCharacters } from "node:util";
import type { OperationOutput } from "../../../shared/protocol/index.ts";
import { headed } from "../text/headed.ts";
import { printableLines } from "../text/printable.ts";
import { formatCount, formatDuration } from "../text/quantities.ts";
import { hideSecrets, shownCommand, shownIntent, shownScreen } from "../text/secrets.ts";
import type { Paint } from "../text/style.ts";
import { layoutTable } from "../text/table.ts";
import { endOf } from "../timeline/title.ts";

type Story = OperationOutput<"show">["story"];

/** Longest command line that is shown. */
const COMMAND_CHARACTERS_MAX = 200;
/** Commands that are shown unless they are asked for. */
const COMMANDS_MAX = 20;
/** Lines of a command's output, the last ones, likewise. */
const OUTPUT_LINES_MAX = 8;
const OUTPUT_INDENT = "      ";

const COMMAND_COLUMNS = [
  { title: "EXIT", align: "right" },
  { title: "TOOK", align: "right" },
  { title: "COMMAND" },
] as const;

const SOURCES = {
  given: "",
  command: "the command behind it",
  operation: "the operation behind it",
  agent: "from the agent",
  git: "the last commit",
} as const;

/** Returns what was meant, with where that was found unless somebody said it. */
export function renderIntent({ intent }: Story, paint: Paint): string[] {
  if (intent === null) return [];
  const source = SOURCES[intent.source];
  const isFound = source !== "";
  const text = isFound
    ? [shownIntent(intent.text)]
    : printableLines(hideSecrets(intent.text)).split("\n");
  const last = text.pop() ?? "";
  return [
    "",
    ...text,
    `${last}${endOf(intent, paint)}`,
    ...(source === "" ? [] : [paint("dim", `(${source})`)]),
  ].map(indent);
}

/** Returns the last commands that were run since the parent, each with the end of its output. */
export function renderCommands(
  { commands }: Story,
  paint: Paint,
  { isWhole }: { isWhole: boolean },
): string[] {
  if (commands === null || commands.length === 0) return [];
  const shown = isWhole ? commands : commands.slice(-COMMANDS_MAX);
  const rows = shown.map(({ command, exitCode, durationMs }) => [
    exitCode === null ? "-" : String(exitCode),
    durationMs === null ? "runs" : formatDuration(durationMs),
    isWhole ? shownCommand(command) : shownCommand(command).slice(0, COMMAND_CHARACTERS_MAX),
  ]);
  const [titles = "", ...lines] = layoutTable(COMMAND_COLUMNS, rows);
  const linesMax = isWhole ? Number.POSITIVE_INFINITY : OUTPUT_LINES_MAX;
  const left = commands.length - shown.length;
  return [
    ...(left > 0 ? [paint("dim", `… ${left} before these: --section commands`)] : []),
    titles,
    ...lines.flatMap((line, index) => [line, ...renderOutput(shown[index], linesMax, paint)]),
  ];
}

/** Of what a program has drawn over, a carriage return is all that is left: it begins a line, too. */
function renderOutput(
  command: { output: string } | undefined,
  linesMax: number,
  paint: Paint,
): string[] {
  const output = hideSecrets(stripVTControlCharacters(command?.output ?? "")).trimEnd();
  if (output === "") return [];
  const lines = printableLines(output.replace(/\r+\n?/g, "\n")).split("\n");
  const left = lines.length - linesMax;
  return [
    ...(left > 0 ? [`… ${formatCount(left)} lines`] : []),
    ...lines.slice(-Math.min(linesMax, lines.length)),
  ].map((line) => `${OUTPUT_INDENT}${paint("dim", `│ ${line}`)}`);
}

/** Returns the screen as text, without the empty lines at its end. */
export function renderScreen({ terminal }: Story, paint: Paint): string[] {
  const lines = terminal === null ? [] : shownScreen(terminal.lines, terminal.columns);
  const last = lines.findLastIndex((line) => line !== "");
  return last === -1
    ? []
    : headed(
        "Screen",
        lines.slice(0, last + 1).map((line) => `${paint("dim", "│")} ${line}`),
        paint,
      );
}

function indent(line: string): string {
  return line === "" ? "" : `    ${line}`;
}
