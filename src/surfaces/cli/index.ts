/**
 * cli owns the command line: parsing, calling one operation, printing its result for people or as
 * JSON, and the user's terminal while it is attached to a session.
 * It decides nothing about sessions; the daemon does. docs/cli.md is generated from its table.
 */
export type { CommandSpec, OptionSpec } from "./command-spec.ts";
export { COMMAND_TABLE } from "./command-table.ts";
export { buildProgram, helpTail } from "./program.ts";
