import type { Argument, Command, Option } from "commander";
import type { CommandSpec } from "../../src/surfaces/cli/index.ts";
import { code, GENERATED_NOTE, table } from "./markdown.ts";
import { renderExitCodes } from "./render-exit-codes.ts";
import { VARIABLES } from "./variables.ts";

/** Returns docs/cli.md from the command line's own description of itself. */
export function renderCli(program: Command, specs: readonly CommandSpec[]): string {
  const commands = program.createHelp().visibleCommands(program);
  const overview = commands.map((command) => [
    `[${code(pathOf(command))}](#${anchorOf(pathOf(command))})`,
    command.summary(),
  ]);
  return `${GENERATED_NOTE}

# Command line

${program.description().trim()}

${table(["Command", "Does"], overview)}

## Options of every command

${renderOptions(program)}

[errors.md](errors.md) has all exit codes, [operations.md](operations.md) the fields of each
\`--json\` result.

## Variables

${table(
  ["Variable", "Read by", "Meaning"],
  VARIABLES.map(({ name, readBy, meaning }) => [code(name), readBy, meaning]),
)}

${commands.map((command) => renderCommand(command, specs)).join("\n\n")}
`;
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

function renderCommand(command: Command, specs: readonly CommandSpec[]): string {
  const path = pathOf(command);
  const parts = [
    `## ${path}`,
    `\`\`\`text\n${path} ${command.usage()}\n\`\`\``,
    linkPages(command.description().trim()),
    renderArguments(command),
    renderOptions(command),
    ...specsAt(path, specs).map(renderExitCodes),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

/** The help names a page by its path; here the page lies beside this one. */
function linkPages(text: string): string {
  return text.replace(/docs\/(\w+\.md)/g, "[$1]($1)");
}

/** Returns the one of this command; none for `help`, which is no operation. */
export function specsAt(path: string, specs: readonly CommandSpec[]): readonly CommandSpec[] {
  const [, name, ...below] = path.split(" ");
  const here = specs.filter((spec) => spec.name === name);
  return below.length === 0
    ? here
    : here.flatMap(({ subcommands = [] }) => specsAt(["", ...below].join(" "), subcommands));
}

function renderArguments(command: Command): string {
  const rows = command
    .createHelp()
    .visibleArguments(command)
    .filter((argument: Argument) => argument.description !== "")
    .map((argument: Argument) => [code(argument.name()), describeArgument(argument)]);
  return rows.length === 0 ? "" : table(["Argument", "Meaning"], rows);
}

export function describeArgument({ description, argChoices }: Argument): string {
  return argChoices === undefined
    ? description
    : `${description} (one of ${argChoices.join(", ")})`;
}

function renderOptions(command: Command): string {
  const rows = command
    .createHelp()
    .visibleOptions(command)
    .filter((option: Option) => option.long !== "--help")
    .map((option: Option) => [code(option.flags), describeOption(option)]);
  return rows.length === 0 ? "" : table(["Option", "Meaning"], rows);
}

export function describeOption(option: Option): string {
  const isShown = option.defaultValue !== undefined && option.defaultValue !== false;
  const notes = [
    ...(option.argChoices === undefined ? [] : [`one of ${option.argChoices.join(", ")}`]),
    ...(isShown
      ? [`default ${option.defaultValueDescription ?? String(option.defaultValue)}`]
      : []),
  ];
  return notes.length === 0 ? option.description : `${option.description} (${notes.join("; ")})`;
}

function anchorOf(path: string): string {
  return path.toLowerCase().replaceAll(" ", "-");
}
