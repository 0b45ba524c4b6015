import type { ZooProgram } from "./zoo-program.ts";

/** A program on the terminal that evaluates what is typed: a shell, a REPL, a database client. */
export interface Evaluator extends Pick<ZooProgram, "name" | "version"> {
  /** Prepares what it needs. */
  prepare?: ZooProgram["start"];
  /** Line of bash that starts it. */
  command: string;
  /** What is on the screen when it takes input. */
  ready: RegExp;
  /** Typed first, each line after the last was taken. */
  setup?: readonly string[];
  /** Prints `number:STATE:` at the beginning of a line. */
  question: (number: string) => string;
  /** Adds a mark to its state. */
  addition: (mark: string) => string;
}

/** Makes a program of the zoo of one that evaluates what is typed. */
export function terminalProgram(evaluator: Evaluator): ZooProgram {
  return {
    name: evaluator.name,
    version: evaluator.version,
    start: async (stage) => {
      await evaluator.prepare?.(stage);
      await stage.enter(`clear; ${evaluator.command}`);
      await stage.terminal.waitFor(evaluator.ready);
      for (const line of evaluator.setup ?? []) await stage.enter(line);
      await stage.ask(evaluator.question);
    },
    see: (stage) => stage.ask(evaluator.question),
    change: (stage, mark) => stage.enter(evaluator.addition(mark)),
  };
}
