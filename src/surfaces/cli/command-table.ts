import type { CommandSpec } from "./command-spec.ts";
import { HISTORY_COMMANDS } from "./table/checkpoint-commands.ts";
import { FILE_COMMANDS } from "./table/file-commands.ts";
import { HOST_COMMANDS } from "./table/host-commands.ts";
import { MERGE_COMMANDS } from "./table/merge-commands.ts";
import { SESSION_COMMANDS } from "./table/session-commands.ts";

/** Every command of the command line, in the order of the help. */
export const COMMAND_TABLE: readonly CommandSpec[] = [
  ...SESSION_COMMANDS,
  ...HISTORY_COMMANDS,
  ...FILE_COMMANDS,
  ...MERGE_COMMANDS,
  ...HOST_COMMANDS,
];
