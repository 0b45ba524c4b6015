import { CommanderError } from "commander";
import {
  ERROR_REGISTRY,
  EXIT_CODE_OWN_FAILURE,
  toWaypointError,
  WaypointError,
} from "../../shared/errors/index.ts";
import { declareSurface, resolveStateDir } from "../client/index.ts";
import type { CommandSpec } from "./command-spec.ts";
import { COMMAND_TABLE } from "./command-table.ts";
import { readConfig } from "./config/read-config.ts";
import type { CommandContext } from "./context.ts";
import { EXIT_CODE_NOT_SEARCHED, EXIT_CODE_OUTPUT_CLOSED } from "./exit-codes.ts";
import { findCalled } from "./find-called.ts";
import { type Output, OutputClosed, processOutput } from "./output.ts";
import { buildProgram, type Handler } from "./program.ts";
import { exitCodeOf, renderError } from "./render-error.ts";
import { keepHarmless, leadFrom } from "./suggestions.ts";
import { type Colours, paintFor } from "./text/style.ts";

/** Runs one command line and ends this process with its exit code. */
export async function runCommandLine(argv: readonly string[]): Promise<never> {
  if (argv[0] === "complete" && argv[1] === "--") await completeAndEnd(argv.slice(2));
  declareSurface("cli");
  let failureExitCode: number | null = null;
  let exitCode = 0;
  const isJson = hasFlag(argv, "--json");
  const colours = await coloursFor(argv);
  const output = processOutput({ colours, hasPager: !hasFlag(argv, "--no-pager") });
  const handle: Handler = async (spec, parsed) => {
    // A wrong command line is exit code 2 for every command.
    const context = makeContext(parsed.globals, output);
    failureExitCode = failureExitCodeOf(spec);
    const { run } = await spec.load();
    const { args, rest, options, input } = parsed;
    const invocation = { context, args, rest, afterDashes: afterDashes(argv), options, input };
    exitCode = (await run(invocation)) ?? 0;
  };
  try {
    await parse(argv, { handle, output, isJson });
  } catch (error) {
    exitCode = report(error, { isJson, failureExitCode, colours, command: findCommand(argv) });
  }
  process.exit(exitCode);
}

/** Tells whether a word is the name of a command. */
export function isCommand(word: string): boolean {
  return COMMAND_TABLE.some(({ name }) => name === word);
}

/** What is half typed is for no parser. Whatever fails, a person who types sees nothing of it. */
async function completeAndEnd(words: readonly string[]): Promise<never> {
  const { complete } = await import("./completion/complete.ts");
  await complete(words);
  process.exit(0);
}

/** Parses and runs a command line; help and version are printed as every other output is. */
async function parse(
  argv: readonly string[],
  { handle, output, isJson }: { handle: Handler; output: Output; isJson: boolean },
): Promise<void> {
  let printed = "";
  const writeOut = (text: string) => {
    printed += text;
  };
  try {
    const called = findCalled(argv);
    const program = buildProgram({ handle, isJson, writeOut, ...(called && { called }) });
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (printed !== "") await output.text(printed);
    // Help and version were asked for; commander ends them by throwing.
    if (!(error instanceof CommanderError && error.exitCode === 0)) throw error;
  }
}

function makeContext(globals: { dir?: string; json?: boolean }, output: Output): CommandContext {
  return {
    stateDir: resolveStateDir(globals.dir),
    isJson: globals.json === true,
    output,
    nowMs: Date.now(),
  };
}

/** Errors that every command tells apart from its failures; `exit-codes.ts` lists them. */
const OWN_MEANING: ReadonlySet<string> = new Set(["USAGE_INVALID", "CANCELLED"]);

/** Tells a person or a program what went wrong; returns the exit code. */
function report(
  thrown: unknown,
  how: {
    isJson: boolean;
    failureExitCode: number | null;
    colours: Colours;
    command: CommandSpec | undefined;
  },
): number {
  if (thrown instanceof OutputClosed) return EXIT_CODE_OUTPUT_CLOSED;
  // The help of a call without a command was printed, but that is a mistake.
  if (thrown instanceof CommanderError && thrown.code === "commander.help" && !how.isJson) {
    return ERROR_REGISTRY.USAGE_INVALID.exitCode;
  }
  const error =
    thrown instanceof CommanderError ? usageError(thrown, how.command) : toWaypointError(thrown);
  const lines = how.isJson
    ? [JSON.stringify({ error: error.toJSON() })]
    : renderError(error, paintFor(process.stderr, process.env, how.colours));
  process.stderr.write(`${lines.join("\n")}\n`);
  if (OWN_MEANING.has(error.code)) return exitCodeOf(error);
  return how.failureExitCode ?? exitCodeOf(error);
}

/** Returns the exit code of each failure where the other ones have a meaning of their own. */
function failureExitCodeOf({ passesExitCode, searches }: CommandSpec): number | null {
  if (passesExitCode) return EXIT_CODE_OWN_FAILURE;
  return searches ? EXIT_CODE_NOT_SEARCHED : null;
}

function usageError(thrown: CommanderError, command: CommandSpec | undefined): WaypointError {
  if (thrown.code === "commander.help") {
    return new WaypointError("USAGE_INVALID", "There is no command on the command line.", {
      hint: "`waypoint --help` lists the commands.",
    });
  }
  const [message = "", ...suggestion] = thrown.message.replace(/^error: /, "").split("\n");
  const bare = suggestion.map((text) => text.replace(/^\((.*)\)$/, "$1"));
  const isForName = thrown.code === "commander.unknownCommand";
  const isForOption = thrown.code === "commander.unknownOption";
  const lead = isForOption ? leadToArgument(message, command) : null;
  const hints = isForName ? hintsForName(message, bare) : lead === null ? bare : [lead];
  if (command?.passesExitCode && isForOption) hints.push("Put -- before the command.");
  hints.push(`Read \`waypoint ${command === undefined ? "" : `${command.name} `}--help\`.`);
  const sentence = message.charAt(0).toUpperCase() + message.slice(1);
  return new WaypointError("USAGE_INVALID", sentence.endsWith(".") ? sentence : `${sentence}.`, {
    hint: hints.join(" "),
    detail: { commanderCode: thrown.code },
  });
}

/** What leads to the command that was meant; nothing that acts at once is offered. */
function hintsForName(message: string, suggestions: readonly string[]): string[] {
  const [, word = ""] = /'(.*)'/.exec(message) ?? [];
  const lead = leadFrom(word);
  return lead === null ? suggestions.flatMap((text) => keepHarmless(text) ?? []) : [lead];
}

/**
 * What is an argument of one command may be an option of another: `new web`, `fork --name web`. The words of a
 * command in the session have options of their own, and of subcommands it is not known here which one was meant.
 */
function leadToArgument(message: string, command: CommandSpec | undefined): string | null {
  const [, word] = /'--([\w-]+)/.exec(message) ?? [];
  if (command === undefined || command.subcommands !== undefined) return null;
  const found = command
    .arguments?.()
    .find(({ name }) => /^[<[]([\w-]+)[>\]]$/.exec(name)?.[1] === word);
  if (found === undefined) return null;
  return `That is an argument here: \`waypoint ${command.name} ${found.name}\`.`;
}

/** Returns the command that was meant, for the hint of an error of the parser. */
function findCommand(argv: readonly string[]): CommandSpec | undefined {
  for (const word of argv) {
    const command = COMMAND_TABLE.find(({ name }) => name === word);
    if (command !== undefined) return command;
  }
  return undefined;
}

/** Returns what follows `--`, which the parser joins with what comes before. */
function afterDashes(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf("--");
  return end === -1 ? [] : argv.slice(end + 1);
}

/** A config file that cannot be used keeps no command from working that needs nothing of it. */
async function coloursFor(argv: readonly string[]): Promise<Colours> {
  if (hasFlag(argv, "--no-color")) return "never";
  return (await readConfig()).settings.colours.value as Colours;
}

/** Looks for a flag without a parser, because it is the parser that may have failed. */
function hasFlag(argv: readonly string[], flag: string): boolean {
  const end = argv.indexOf("--");
  return (end === -1 ? argv : argv.slice(0, end)).includes(flag);
}
