/** Longest text of a command that is taken; what reports it is a program of the session. */
const COMMAND_CHARACTERS_MAX = 4096;
const BEGIN = /^begin (\d{1,15}) (\d{1,15}) (\d{1,15}) (\d{1,15}) (.*)$/;
const END = /^end (\d{1,15}) (\d{1,15}) (\d{1,15}) (-?\d{1,4})$/;

/** A line that a person typed into a shell. */
export interface TypedCommand {
  /** Counts up within a terminal. */
  number: number;
  command: string;
  startedAtMs: number;
  /** `null` while it runs. */
  durationMs: number | null;
  /** `null` while it runs, and where nobody knows how it ended. */
  exitCode: number | null;
  /** Where its output begins and ends in all that the terminal has shown. */
  outputStart: number;
  outputEnd: number;
}

/**
 * Reads what init noted of typed commands (native/init/typed.c), oldest first.
 *
 * Whoever is in the session may have reported anything; what does not hold together is left out.
 *
 * @param notes  lines of text; the first may be cut.
 * @param shownUntil  how much the terminal has shown, which is where running ones end.
 */
export function parseTyped(notes: string, shownUntil: number): TypedCommand[] {
  const commands: Begun[] = [];
  for (const line of notes.split("\n")) {
    const begin = BEGIN.exec(line);
    if (begin !== null) commands.push(begun(begin, shownUntil));
    const end = END.exec(line);
    const last = commands.at(-1);
    if (end !== null && last?.number === Number(end[1])) finish(last, end);
  }
  return commands.map(({ beganAtMs: _beganAtMs, ...command }) => command);
}

interface Begun extends TypedCommand {
  beganAtMs: number;
}

function begun(
  [, number, wallClockMs, beganAtMs, offset, text]: string[],
  shownUntil: number,
): Begun {
  return {
    number: Number(number),
    command: unescapeLine(text ?? "").slice(0, COMMAND_CHARACTERS_MAX),
    startedAtMs: Number(wallClockMs),
    beganAtMs: Number(beganAtMs),
    ...{ durationMs: null, exitCode: null },
    ...{ outputStart: Number(offset), outputEnd: shownUntil },
  };
}

function finish(command: Begun, [, , endedAtMs, offset, exitCode]: string[]): void {
  command.durationMs = Math.max(0, Number(endedAtMs) - command.beganAtMs);
  command.outputEnd = Math.max(command.outputStart, Number(offset));
  command.exitCode = Number(exitCode) < 0 ? null : Number(exitCode);
}

function unescapeLine(text: string): string {
  return text.replace(/\\([\\n])/g, (_, character) => (character === "n" ? "\n" : "\\"));
}
