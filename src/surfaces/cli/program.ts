import { Argument, Command, Help, Option } from "commander";
import { WaypointError } from "../../shared/errors/index.ts";
import { DESCRIBED, WAYPOINT_VERSION } from "../../shared/protocol/index.ts";
import type { CommandSpec, OptionSpec } from "./command-spec.ts";
import { COMMAND_TABLE } from "./command-table.ts";
import { exitCodesOf } from "./exit-codes.ts";

/** What was typed. */
export interface ParsedCommand {
  args: readonly (string | undefined)[];
  rest: readonly string[];
  options: Record<string, unknown>;
  /** By the names of the fields of the command's first operation. */
  input: Record<string, unknown>;
  globals: { dir?: string; json?: boolean };
}

/** Carries out what was typed. */
export type Handler = (spec: CommandSpec, parsed: ParsedCommand) => Promise<void>;

const HELP = new Help();

/** A command is listed with those below it, by the words that call it. */
const LISTING_ALL: Partial<Help> = {
  visibleCommands: (parent) =>
    HELP.visibleCommands(parent).flatMap((child) => [child, ...HELP.visibleCommands(child)]),
  subcommandTerm: (command) => {
    const parent = command.parent;
    const isTop = parent === null || parent.parent === null;
    return `${isTop ? "" : `${parent.name()} `}${HELP.subcommandTerm(command)}`;
  },
};

/** What a program does with what it parses. */
export interface ProgramOptions {
  handle?: Handler;
  /** A program reads: the version is JSON, and no help is printed for a mistake. */
  isJson?: boolean;
  /** Takes the help and the version when they are asked for. */
  writeOut?: (text: string) => void;
  /** The one command that the line calls, where that is known: no other is made. */
  called?: CommandSpec;
}

/**
 * Returns the command line as a commander program; parsing it calls `handle`.
 *
 * Has no side effect: the generator of docs/cli.md reads the program without a handler.
 */
export function buildProgram(options: ProgramOptions = {}): Command {
  const { handle = async () => {}, isJson = false, writeOut, called } = options;
  const version = isJson ? JSON.stringify({ version: WAYPOINT_VERSION }) : WAYPOINT_VERSION;
  const program = new Command("waypoint")
    .description("History for the running computer: checkpoint, restore and fork live sessions")
    .version(version, "-V, --version", "Print the version")
    .option(
      "--dir <directory>",
      "State directory [WAYPOINT_DIR if set and not empty, else /var/lib/waypoint]",
    )
    .option(
      "--json",
      "Print the result as one line of JSON, errors too; what comes in parts a line each",
    )
    .option("--no-color", "Print without colours, as with NO_COLOR set")
    .option("--no-pager", "Print long output at once [WAYPOINT_PAGER, PAGER or less shows it]")
    .helpOption("-h, --help", "Print help")
    .helpCommand(false)
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: true, ...LISTING_ALL })
    // Errors are thrown and printed in one place, as text or as JSON.
    .configureOutput({
      outputError: () => {},
      ...(writeOut === undefined ? {} : { writeOut }),
      ...(isJson ? { writeErr: () => {} } : {}),
    })
    .exitOverride();
  if (called === undefined) {
    for (const spec of COMMAND_TABLE) addCommand(program, spec, handle);
    addHelp(program);
  } else {
    addCommand(program, called, handle);
  }
  requireKnownBeforeHelp(program);
  return program;
}

/** Adds `help`; commander's own knows no subcommands and takes an unknown one for none. */
function addHelp(program: Command): void {
  program
    .command("help [command...]")
    .summary("Print the help of a command")
    .description("Print the help of a command.")
    .action((names: string[]) => {
      let shown = program;
      for (const name of names) {
        const next = shown.commands.find((command) => command.name() === name);
        if (next === undefined) throw unknownCommand(names);
        shown = next;
      }
      shown.help();
    });
}

/** Refuses `nonsense --help`, which would print the help of what the unknown name stands under. */
function requireKnownBeforeHelp(parent: Command): void {
  for (const command of parent.commands) requireKnownBeforeHelp(command);
  if (parent.commands.length === 0 || parent.registeredArguments.length > 0) return;
  parent.addHelpText("before", () => {
    const name = parent.args.find((word) => !word.startsWith("-"));
    const isKnown = name === undefined || parent.commands.some((one) => one.name() === name);
    if (!isKnown) throw unknownCommand(parent.parent === null ? [name] : [parent.name(), name]);
    return "";
  });
}

function unknownCommand(names: readonly string[]): WaypointError {
  const command = names.join(" ");
  return new WaypointError("USAGE_INVALID", `There is no command ${JSON.stringify(command)}.`, {
    hint: "`waypoint help` lists the commands.",
    detail: { command },
  });
}

function addCommand(parent: Command, spec: CommandSpec, handle: Handler): void {
  const command = parent.command(spec.name).summary(spec.summary);
  command.description([`${spec.summary}.`, spec.description ?? ""].join(" ").trim());
  const places = spec.arguments?.() ?? [];
  for (const { name, description, parse, choices } of places) {
    const argument = new Argument(name, description);
    if (choices !== undefined) argument.choices([...choices]);
    command.addArgument(parse === undefined ? argument : argument.argParser(parse));
  }
  if (spec.usageEnd !== undefined) command.usage(`${command.usage()} ${spec.usageEnd}`);
  const options = (spec.options?.() ?? []).map((each) => ({
    ...{ field: each.field, option: toOption(each) },
  }));
  for (const { option } of options) command.addOption(option);
  command.addHelpText("after", () => helpTail(spec));
  for (const subcommand of spec.subcommands ?? []) addCommand(command, subcommand, handle);
  command.action(async () => {
    const globals = command.optsWithGlobals<ParsedCommand["globals"]>();
    const isVariadic = command.registeredArguments.at(-1)?.variadic === true;
    const values = [...command.processedArgs] as (string | string[] | undefined)[];
    const rest = isVariadic ? ((values.pop() as string[] | undefined) ?? []) : [];
    const args = values as (string | undefined)[];
    const typed = command.opts();
    const input = inputOf(spec, [
      ...places.map(({ field }, at) => [field, command.processedArgs[at]] as const),
      ...options.map(({ field, option }) => [field, typed[option.attributeName()]] as const),
    ]);
    await handle(spec, { args, rest, options: typed, input, globals });
  });
}

/** Returns what was typed for the fields of the operation that a command asks for. */
function inputOf(
  spec: CommandSpec,
  typed: readonly (readonly [field: string | undefined, value: unknown])[],
): Record<string, unknown> {
  const [operation] = spec.operations ?? [];
  if (operation === undefined) return {};
  const fields = DESCRIBED[operation].fields;
  const named = typed.map(([field, value]) => [field?.replace(/^.*\./, "") ?? "", value] as const);
  return Object.fromEntries(
    named.filter(([field, value]) => Object.hasOwn(fields, field) && value !== undefined),
  );
}

function toOption(spec: OptionSpec): Option {
  const option = new Option(spec.flags, spec.description);
  if (spec.choices !== undefined) option.choices([...spec.choices]);
  if (spec.parse !== undefined) option.argParser(spec.parse as (text: string) => unknown);
  if (spec.default !== undefined) option.default(spec.default);
  if (spec.preset !== undefined) option.preset(spec.preset);
  return option;
}

/** Returns what the help of a command ends with: examples and exit codes. */
export function helpTail(spec: CommandSpec): string {
  const examples = spec.examples.map(([line, what]) => `  ${line}\n      ${what}`);
  return ["", "Examples:", ...examples, "", "Exit codes:", ...exitCodeLines(spec), ""].join("\n");
}

/** A short number is padded, so that what they mean stands in one column. */
function exitCodeLines(spec: CommandSpec): string[] {
  return exitCodesOf(spec).map(
    ({ exitCode, meaning }) => `  ${String(exitCode ?? "any").padStart(3)}  ${meaning}`,
  );
}
