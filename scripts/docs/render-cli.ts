import type { Argument, Command, Option } from "commander";
import { code, GENERATED_NOTE, table } from "./markdown.ts";

/** Returns docs/cli.md from the command line's own description of itself. */
export function renderCli(program: Command): string {
  const commands = visibleCommands(program).flatMap((command) => leaves(command, program.name()));
  const overview = commands.map(({ path, command }) => [
    `[${code(path)}](#${anchorOf(path)})`,
    command.summary() || firstLine(command.description()),
  ]);
  const globalOptions = renderOptions(program);
  return `${GENERATED_NOTE}

# Command line

${program.description().trim()}

${table(["Command", "Does"], overview)}
${globalOptions === "" ? "" : `\n## Options of every command\n\n${globalOptions}\n`}
[errors.md](errors.md) has the exit codes, [operations.md](operations.md) the fields of each
\`--json\` result.

${commands.map(renderCommand).join("\n\n")}
`;
}

interface Leaf {
  path: string;
  command: Command;
}

/** Returns a command and all commands below it, those that do something first. */
function leaves(command: Command, parentPath: string): Leaf[] {
  const path = `${parentPath} ${command.name()}`;
  const below = visibleCommands(command).flatMap((child) => leaves(child, path));
  return [{ path, command }, ...below];
}

function visibleCommands(command: Command): Command[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((child) => child.name() !== "help");
}

function renderCommand({ path, command }: Leaf): string {
  const parts = [
    `## ${path}`,
    `\`\`\`text\n${path} ${command.usage()}\n\`\`\``,
    command.description().trim(),
    renderArguments(command),
    renderOptions(command),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

function renderArguments(command: Command): string {
  const rows = command
    .createHelp()
    .visibleArguments(command)
    .filter((argument: Argument) => argument.description !== "")
    .map((argument: Argument) => [code(argument.name()), argument.description]);
  return rows.length === 0 ? "" : table(["Argument", "Meaning"], rows);
}

function renderOptions(command: Command): string {
  const rows = command
    .createHelp()
    .visibleOptions(command)
    .filter((option: Option) => option.long !== "--help")
    .map((option: Option) => [code(option.flags), describeOption(option)]);
  return rows.length === 0 ? "" : table(["Option", "Meaning"], rows);
}

function describeOption(option: Option): string {
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

function firstLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}
