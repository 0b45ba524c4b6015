import { Argument, Command, Option } from "commander";
import {
  ERROR_REGISTRY,
  type ErrorCode,
  EXIT_CODE_OWN_FAILURE,
  WaypointError,
} from "../../shared/errors/index.ts";
import { WAYPOINT_VERSION } from "../../shared/protocol/index.ts";
import {
  type CommandSpec,
  EXIT_CODE_CONFLICTS,
  EXIT_CODE_NOT_PASSED,
  EXIT_CODE_NOT_VERIFIED,
  type OptionSpec,
} from "./command-spec.ts";
import { COMMAND_TABLE } from "./command-table.ts";

/** What was typed. */
export interface ParsedCommand {
  args: readonly (string | undefined)[];
  rest: readonly string[];
  options: Record<string, unknown>;
  globals: { dir?: string; json?: boolean };
}

/** Carries out what was typed. */
export type Handler = (spec: CommandSpec, parsed: ParsedCommand) => Promise<void>;

/** Errors that every command may end with. */
const ERRORS_OF_ALL: readonly ErrorCode[] = [
  "USAGE_INVALID",
  "DAEMON_UNREACHABLE",
  "INTERNAL",
  // Ctrl-C, SIGTERM and SIGHUP.
  "CANCELLED",
];

/** What a program does with what it parses. */
export interface ProgramOptions {
  handle?: Handler;
  /** A program reads: the version is JSON, and no help is printed for a mistake. */
  isJson?: boolean;
  /** Takes the help and the version when they are asked for. */
  writeOut?: (text: string) => void;
}

/**
 * Returns the command line as a commander program; parsing it calls `handle`.
 *
 * Has no side effect: the generator of docs/cli.md reads the program without a handler.
 */
export function buildProgram(options: ProgramOptions = {}): Command {
  const { handle = async () => {}, isJson = false, writeOut } = options;
  const version = isJson ? JSON.stringify({ version: WAYPOINT_VERSION }) : WAYPOINT_VERSION;
  const program = new Command("waypoint")
    .description("History for the running computer: checkpoint, restore and fork live sessions")
    .version(version, "-V, --version", "Print the version")
    .option(
      "--dir <directory>",
      "State directory [WAYPOINT_DIR if set and not empty, else /var/lib/waypoint]",
    )
    .option("--json", "Print the result as one line of JSON, errors too")
    .option("--no-color", "Print without colours, as with NO_COLOR set")
    .option("--no-pager", "Print long output at once [WAYPOINT_PAGER, PAGER or less shows it]")
    .helpOption("-h, --help", "Print help")
    .helpCommand(false)
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: true })
    // Errors are thrown and printed in one place, as text or as JSON.
    .configureOutput({
      outputError: () => {},
      ...(writeOut === undefined ? {} : { writeOut }),
      ...(isJson ? { writeErr: () => {} } : {}),
    })
    .exitOverride();
  for (const spec of COMMAND_TABLE) addCommand(program, spec, handle);
  addHelp(program);
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
  for (const [name, description, parse] of spec.arguments ?? []) {
    const argument = new Argument(name, description);
    command.addArgument(parse === undefined ? argument : argument.argParser(parse));
  }
  if (spec.usageEnd !== undefined) command.usage(`${command.usage()} ${spec.usageEnd}`);
  for (const option of spec.options ?? []) command.addOption(toOption(option));
  command.addHelpText("after", () => helpTail(spec));
  for (const subcommand of spec.subcommands ?? []) addCommand(command, subcommand, handle);
  command.action(async () => {
    const globals = command.optsWithGlobals<ParsedCommand["globals"]>();
    const isVariadic = command.registeredArguments.at(-1)?.variadic === true;
    const values = [...command.processedArgs] as (string | string[] | undefined)[];
    const rest = isVariadic ? ((values.pop() as string[] | undefined) ?? []) : [];
    const args = values as (string | undefined)[];
    await handle(spec, { args, rest, options: command.opts(), globals });
  });
}

function toOption(spec: OptionSpec): Option {
  const option = new Option(spec.flags, spec.description);
  if (spec.choices !== undefined) option.choices([...spec.choices]);
  if (spec.parse !== undefined) option.argParser(spec.parse as (text: string) => unknown);
  if (spec.default !== undefined) option.default(spec.default);
  return option;
}

/** Returns what the help of a command ends with: examples and exit codes. */
export function helpTail(spec: CommandSpec): string {
  const examples = spec.examples.map(([line, what]) => `  ${line}\n      ${what}`);
  return ["", "Examples:", ...examples, "", "Exit codes:", ...exitCodeLines(spec), ""].join("\n");
}

function exitCodeLines(spec: CommandSpec): string[] {
  if (spec.passesExitCode) {
    return [
      "  as the command in the session; 124 when --timeout ended it",
      `  ${pad(2)}  the command line was wrong (USAGE_INVALID)`,
      `  ${pad(EXIT_CODE_OWN_FAILURE)}  Waypoint itself failed; the message has the error's code`,
    ];
  }
  if (spec.searches) {
    return [
      `  ${pad(0)}  something was found`,
      `  ${pad(1)}  nothing was found`,
      `  ${pad(2)}  something could not be searched, or the search failed`,
    ];
  }
  const byExitCode = new Map<number, ErrorCode[]>();
  for (const code of new Set([...ERRORS_OF_ALL, ...(spec.errors ?? [])])) {
    const { exitCode } = ERROR_REGISTRY[code];
    byExitCode.set(exitCode, [...(byExitCode.get(exitCode) ?? []), code]);
  }
  const rows = [...byExitCode].sort(([a], [b]) => a - b);
  return [
    `  ${pad(0)}  ${spec.differs ? "nothing differs" : "done"}`,
    ...(spec.differs ? [`  ${pad(1)}  something differs`] : []),
    ...(spec.verifies ? verifyExitCodeLines() : []),
    ...(spec.leavesConflicts
      ? [`  ${pad(EXIT_CODE_CONFLICTS)}  done, but for what was changed again since: it was left`]
      : []),
    ...(spec.bisects ? [bisectExitCodeLine()] : []),
    ...rows.map(([code, names]) => `  ${pad(code)}  ${names.join(", ")}`),
  ];
}

function verifyExitCodeLines(): string[] {
  return [
    `  ${pad(EXIT_CODE_NOT_PASSED)}  done, and the command of a verification failed or took too long`,
    `  ${pad(EXIT_CODE_NOT_VERIFIED)}  done, but a command could not be run against a checkpoint`,
  ];
}

function bisectExitCodeLine(): string {
  return `  ${pad(EXIT_CODE_NOT_VERIFIED)}  done, but it could be any of several that could not be tested`;
}

function pad(exitCode: number): string {
  return String(exitCode).padStart(3);
}
