import { boundedSize } from "../../shared/protocol/index.ts";

/** What init knows of one terminal. */
export interface TerminalState {
  id: number;
  pid: number;
  isAlive: boolean;
  cols: number;
  rows: number;
  /** Offset of the oldest byte that can still be read. */
  startOffset: bigint;
  /** Offset after the newest byte. */
  endOffset: bigint;
  /** Foreground process group; 0 when there is none. */
  foreground: number;
  /** Whether the shell waits for a line. */
  isAtPrompt: boolean;
  /** Exit code of the program, once it ended; 128 + n after a signal. */
  exitCode: number;
  signal: number;
}

/** Life of a command; `draining`: ended, but background processes hold its output open. */
export type CommandStage = "queued" | "running" | "draining" | "done";

/** Why a command ended. */
export type EndReason =
  | ("exited" | "aborted" | "shell-ended")
  | ("refused" | "cancelled")
  /** The shell ended before it took the command. */
  | "shell-lost";

/** What init knows of one command. */
export interface CommandState {
  id: number;
  kind: "shell" | "own";
  /** The terminal in whose shell it runs; 0 for an own process. */
  terminalId: number;
  stage: CommandStage;
  /** Process id of an own command; 0 in a shell. */
  pid: number;
  exitCode: number;
  signal: number;
  reason: EndReason;
  isDiscarded: boolean;
}

export interface InitState {
  terminals: TerminalState[];
  commands: CommandState[];
}

const END_REASONS: readonly EndReason[] = [
  "exited",
  "aborted",
  "shell-ended",
  "refused",
  "cancelled",
  "shell-lost",
];

/** Names the number with which init reports why a command ended. */
export function endReason(value: number): EndReason {
  return END_REASONS[value] ?? "exited";
}

/** Reads the lines of LIST; unknown keys are ignored, so that init may say more one day. */
export function parseTerminals(text: string): TerminalState[] {
  return parseLines(text).map((line) => ({
    id: line.number("id"),
    pid: line.number("pid"),
    isAlive: line.number("alive") === 1,
    ...sizeIn(line),
    startOffset: BigInt(line.text("start")),
    endOffset: BigInt(line.text("end")),
    foreground: line.number("foreground"),
    isAtPrompt: line.number("atPrompt") === 1,
    exitCode: line.number("exit"),
    signal: line.number("signal"),
  }));
}

/** A program in the session has set it. */
function sizeIn(line: Line): Pick<TerminalState, "cols" | "rows"> {
  const { columns, rows } = boundedSize({
    columns: line.number("cols"),
    rows: line.number("rows"),
  });
  return { cols: columns, rows };
}

/** Reads the lines of LIST for commands. */
export function parseCommands(text: string): CommandState[] {
  return parseLines(text).map((line) => ({
    id: line.number("id"),
    kind: line.text("kind") === "shell" ? "shell" : "own",
    terminalId: line.number("terminal"),
    stage: line.text("state") as CommandStage,
    pid: line.number("pid"),
    exitCode: line.number("exit"),
    signal: line.number("signal"),
    reason: endReason(line.number("reason")),
    isDiscarded: line.number("discarded") === 1,
  }));
}

interface Line {
  text(key: string): string;
  number(key: string): number;
}

function parseLines(text: string): Line[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const pairs = line
        .split(" ")
        .slice(1)
        .map((word): [string, string] => {
          const at = word.indexOf("=");
          return [word.slice(0, at), word.slice(at + 1)];
        });
      const values = new Map(pairs);
      const textOf = (key: string) => values.get(key) ?? "0";
      return { text: textOf, number: (key) => Number(textOf(key)) };
    });
}
