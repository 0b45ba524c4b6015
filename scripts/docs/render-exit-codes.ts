import {
  answersOf,
  exitCodesOf,
  exitCodesOfAll,
  inOrder,
} from "../../src/surfaces/cli/exit-codes.ts";
import { COMMAND_TABLE, type CommandSpec } from "../../src/surfaces/cli/index.ts";
import { code, table } from "./markdown.ts";

const ERROR_CODE = /\b[A-Z]+(?:_[A-Z]+)+\b|\b(?:INTERNAL|CANCELLED)\b/g;

/** Returns a row for each meaning of each exit code, and whose it is. */
export function renderAllExitCodes(): string {
  const specs = COMMAND_TABLE.flatMap((spec) => [spec, ...(spec.subcommands ?? [])]);
  const ofAll = exitCodesOfAll().map((each) => ({ ...each, command: "all" }));
  const ofOne = specs.flatMap((spec) =>
    answersOf(spec).map((answer) => ({ ...answer, command: code(spec.name) })),
  );
  const rows = Map.groupBy(
    inOrder([...ofAll, ...ofOne]),
    (row) => `${row.exitCode} ${row.meaning}`,
  );
  return table(
    ["Exit code", "Command", "Meaning"],
    [...rows.values()].map((same) => [
      shownCode(same[0]?.exitCode ?? null),
      same.map(({ command }) => command).join(", "),
      shownMeaning(same[0]?.meaning ?? ""),
    ]),
  );
}

/** Returns the exit codes of a command; nothing for the many that have only those of all. */
export function renderExitCodes(spec: CommandSpec): string {
  if (answersOf(spec).length === 0) return "";
  const rows = exitCodesOf(spec).map(({ exitCode, meaning }) => [
    shownCode(exitCode),
    shownMeaning(meaning),
  ]);
  return table(["Exit code", "Meaning"], rows);
}

function shownCode(exitCode: number | null): string {
  return exitCode === null ? "any" : String(exitCode);
}

function shownMeaning(meaning: string): string {
  return meaning.replaceAll(ERROR_CODE, code("$&"));
}
