import type { ErrorCode } from "../../shared/errors/index.ts";
import type { OperationName } from "../../shared/protocol/index.ts";
import type { CommandModule } from "./context.ts";
import type { ExitCodeMeaning } from "./exit-codes.ts";

/** An option of a command. */
export interface OptionSpec {
  /** As commander writes it: "-m, --intent <text>". */
  flags: string;
  description: string;
  /** Turns the text into a value; throws commander's InvalidArgumentError. */
  parse?: (text: string, previous: never) => unknown;
  choices?: readonly string[];
  /** Field of an operation's input that it gives, "fork.count"; none where it is the command's own. */
  field?: string;
  /** Operation that the command asks for instead. */
  asks?: OperationName;
  /** What it is where it is given without its value. */
  preset?: string;
  default?: string | number | boolean | readonly string[];
}

/** A positional argument. */
export interface ArgumentSpec {
  /** As commander writes it: "<session>", "[paths...]". */
  name: string;
  description: string;
  choices?: readonly string[];
  /** Turns the text into a value; throws commander's InvalidArgumentError. */
  parse?: (text: string) => unknown;
  /** As of an option. */
  field?: string;
}

/** Everything about a command except what it does, which `load` brings when it is called. */
export interface CommandSpec {
  name: string;
  /** Operations that it asks for. */
  operations?: readonly OperationName[];
  /** In the imperative, without a full stop. */
  summary: string;
  /** What else its help says. */
  description?: string;
  /** Made when they are asked for: a start shows those of one command at most. */
  arguments?: () => readonly ArgumentSpec[];
  options?: () => readonly OptionSpec[];
  /** Command lines, each with what it does. */
  examples: readonly (readonly [string, string])[];
  /** Errors that it may end with besides those of every command. */
  errors?: readonly ErrorCode[];
  /** Ends with the exit code of a command in the session, and with 125 for failures of its own. */
  passesExitCode?: true;
  /** Exits as grep does, with 2 after any failure. */
  searches?: true;
  /** Exit codes when it did what it was asked for; 0 where none is told. */
  answers?: readonly ExitCodeMeaning[];
  /** What its usage ends with besides its arguments. */
  usageEnd?: string;
  subcommands?: readonly CommandSpec[];
  load: () => Promise<CommandModule>;
}
