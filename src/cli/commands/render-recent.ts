import type { OperationOutput } from "../../protocol/index.ts";
import { printable, printableLines } from "../text/printable.ts";
import { formatDuration } from "../text/quantities.ts";
import type { Paint } from "../text/style.ts";
import { layoutTable } from "../text/table.ts";

type Story = OperationOutput<"show">["story"];

/** Longest command line that is shown. */
const COMMAND_CHARACTERS_MAX = 200;
/** Commands that are shown; all of them are in the JSON. */
const COMMANDS_MAX = 20;

const SOURCES = {
  given: "",
  command: "the last command",
  agent: "from the agent",
  git: "the last commit",
} as const;

/** Returns what was meant, with where that was found unless somebody said it. */
export function renderIntent({ intent }: Story, paint: Paint): string[] {
  if (intent === null) return [];
  const source = SOURCES[intent.source];
  const text = printableLines(intent.text).split("\n");
  return ["", ...text, ...(source === "" ? [] : [paint("dim", `(${source})`)])].map(indent);
}

/** Returns the last commands that were run since the parent. */
export function renderCommands({ commands }: Story, paint: Paint): string[] {
  if (commands === null || commands.length === 0) return [];
  const rows = commands
    .slice(-COMMANDS_MAX)
    .map(({ command, exitCode, durationMs }) => [
      exitCode === null ? "-" : String(exitCode),
      durationMs === null ? "runs" : formatDuration(durationMs),
      printable(command).slice(0, COMMAND_CHARACTERS_MAX),
    ]);
  const left = commands.length - rows.length;
  return [
    "",
    ...layoutTable(
      [{ title: "EXIT", align: "right" }, { title: "TOOK", align: "right" }, { title: "COMMAND" }],
      rows,
    ),
    ...(left > 0 ? [paint("dim", `… and ${left} before them`)] : []),
  ];
}

/** Returns the screen as text, without the empty lines at its end. */
export function renderScreen({ terminal }: Story, paint: Paint): string[] {
  const lines = terminal?.lines.map(printable) ?? [];
  const last = lines.findLastIndex((line) => line !== "");
  return last === -1
    ? []
    : ["", ...lines.slice(0, last + 1).map((line) => `${paint("dim", "│")} ${line}`)];
}

function indent(line: string): string {
  return line === "" ? "" : `    ${line}`;
}
