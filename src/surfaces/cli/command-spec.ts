import type { ErrorCode } from "../../shared/errors/index.ts";
import type { CommandModule } from "./context.ts";

/** Exit code when a command that was run against a checkpoint failed or took too long. */
export const EXIT_CODE_NOT_PASSED = 3;
/** Exit code when a command could not be run against a checkpoint. */
export const EXIT_CODE_NOT_VERIFIED = 4;

/** Exit code when something was left as it is because it had been changed again. */
export const EXIT_CODE_CONFLICTS = 3;

/** An option of a command. */
export interface OptionSpec {
  /** As commander writes it: "-m, --intent <text>". */
  flags: string;
  description: string;
  /** Turns the text into a value; throws commander's InvalidArgumentError. */
  parse?: (text: string, previous: never) => unknown;
  choices?: readonly string[];
  default?: string | number | boolean | readonly string[];
}

/** A positional argument: as commander writes it, its description, and how to read it. */
export type ArgumentSpec = readonly [string, string, ((text: string) => string)?];

/** Everything about a command except what it does, which `load` brings when it is called. */
export interface CommandSpec {
  name: string;
  /** In the imperative, without a full stop. */
  summary: string;
  /** What else its help says. */
  description?: string;
  arguments?: readonly ArgumentSpec[];
  options?: readonly OptionSpec[];
  /** Command lines, each with what it does. */
  examples: readonly (readonly [string, string])[];
  /** Errors that it may end with besides those of every command. */
  errors?: readonly ErrorCode[];
  /** Ends with the exit code of a command in the session, and with 125 for failures of its own. */
  passesExitCode?: true;
  /** Exits as grep does: 0 when something was found, 1 when nothing was, 2 after any failure. */
  searches?: true;
  /** Exits with 1 when what it compares differs. */
  differs?: true;
  /** Exits with {@link EXIT_CODE_NOT_PASSED} or {@link EXIT_CODE_NOT_VERIFIED} after a verification. */
  verifies?: true;
  /** Exits with {@link EXIT_CODE_CONFLICTS} when something was left because it had changed again. */
  leavesConflicts?: true;
  /** Exits with {@link EXIT_CODE_NOT_VERIFIED} when the answer is any of several. */
  bisects?: true;
  /** What its usage ends with besides its arguments. */
  usageEnd?: string;
  subcommands?: readonly CommandSpec[];
  load: () => Promise<CommandModule>;
}
