import { RootCommand } from "@bomb.sh/tab";
import type { ArgumentSpec, CommandSpec, OptionSpec } from "../command-spec.ts";
import { collectPrinted } from "./collect-printed.ts";

/** A name that can be typed, and what it stands for. */
export interface Candidate {
  name: string;
  what: string;
}

/** Names that the daemon knows. */
export interface KnownNames {
  sessions: readonly Candidate[];
  checkpoints: readonly Candidate[];
}

/** Options of every command, which have no row in the table. */
const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { flags: "--dir <directory>", description: "State directory" },
  { flags: "--json", description: "Print the result as one line of JSON" },
  { flags: "--no-color", description: "Print without colours" },
  { flags: "--no-pager", description: "Print long output at once" },
  { flags: "-h, --help", description: "Print help" },
];

/**
 * Returns what may come next on a command line, as the scripts of the shells read it.
 *
 * @param words  what stands there behind `waypoint`; the last one is being typed, and may be empty.
 */
export function completeWords(
  words: readonly string[],
  table: readonly CommandSpec[],
  known: KnownNames,
): string {
  const root = new RootCommand();
  for (const spec of table) addCommand(root, spec, "", known);
  addHelp(root, table);
  for (const option of GLOBAL_OPTIONS) addOption(root, option, known);
  return collectPrinted(() => root.parse([...words]));
}

function addCommand(root: RootCommand, spec: CommandSpec, above: string, known: KnownNames): void {
  const name = `${above}${spec.name}`;
  const command = root.command(name, spec.summary);
  for (const argument of spec.arguments?.() ?? []) {
    const candidates = candidatesOf(argument, known);
    const handler = (complete: Take) => give(candidates, complete);
    command.argument(argument.name, handler, argument.name.includes("..."));
  }
  for (const option of [...(spec.options?.() ?? []), ...GLOBAL_OPTIONS]) {
    addOption(command, option, known);
  }
  for (const below of spec.subcommands ?? []) addCommand(root, below, `${name} `, known);
}

/** `help` has no row in the table either. */
function addHelp(root: RootCommand, table: readonly CommandSpec[]): void {
  const candidates = table.map(({ name, summary }) => ({ name, what: summary }));
  const command = root.command("help", "Print the help of a command");
  command.argument("command", (complete) => give(candidates, complete));
}

type Take = (value: string, description: string) => void;

function addOption(
  command: Pick<RootCommand, "option">,
  option: OptionSpec,
  known: KnownNames,
): void {
  const [, short, long = ""] = /^(?:-(\w), )?--([\w-]+)/.exec(option.flags) ?? [];
  if (!option.flags.includes("<")) {
    command.option(long, option.description, short);
    return;
  }
  const [, name = ""] = /<([\w-]+)/.exec(option.flags) ?? [];
  const candidates = candidatesOf({ name, ...option }, known);
  command.option(long, option.description, (complete) => give(candidates, complete), short);
}

function give(candidates: readonly Candidate[], complete: Take): void {
  for (const { name, what } of candidates) complete(name, what);
}

/** Where a session, a checkpoint or either is wanted follows from the contract's field. */
function candidatesOf(
  { field, name, choices }: Pick<ArgumentSpec, "field" | "name"> & { choices?: readonly string[] },
  { sessions, checkpoints }: KnownNames,
): readonly Candidate[] {
  if (choices !== undefined) return choices.map((each) => ({ name: each, what: "" }));
  const wanted = (field?.replace(/^.*\./, "") ?? name).replace(/[^a-z]/gi, "");
  if (field === "diff.path" || field === "revert.paths") return [];
  if (/^(sessions?|tosession)$/i.test(wanted)) return sessions;
  if (field === "base.add.from") return [];
  const isMoment = /^(checkpoints?|from|to|good|bad|moment|names)$/.test(wanted);
  return isMoment && field !== "apply.to" ? [...sessions, ...checkpoints] : [];
}
